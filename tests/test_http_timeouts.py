"""`Timeouts` and `Interrupt`."""

from __future__ import annotations

from typing import Any

import pytest

from tokwire_http import Interrupt, Timeouts


def test_the_defaults_are_generous() -> None:
    assert Timeouts() == Timeouts(connect=10.0, idle=60.0, total=120.0)


def test_none_and_whole_numbers_are_timeouts() -> None:
    assert Timeouts(connect=None, idle=1, total=0.5).idle == 1


@pytest.mark.parametrize("value", [0, -1, 0.0, float("nan"), True, "10"])
@pytest.mark.parametrize("name", ["connect", "idle", "total"])
def test_a_timeout_is_above_zero(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"Timeouts\\({name}=.*seconds above 0"):
        Timeouts(**{name: value})


def test_an_interrupt_wakes_who_registered_before() -> None:
    interrupt, woken = Interrupt(), []
    interrupt.register(lambda: woken.append(interrupt.is_set))
    assert not interrupt.is_set
    interrupt.set()
    assert woken == [True]


def test_an_interrupt_wakes_who_registers_later() -> None:
    interrupt, woken = Interrupt(), []
    interrupt.set()
    interrupt.register(lambda: woken.append(1))
    assert woken == [1]


def test_who_no_longer_waits_is_not_woken() -> None:
    interrupt, woken = Interrupt(), []
    interrupt.register(lambda: woken.append(1))
    interrupt.register(None)
    interrupt.set()
    assert (interrupt.is_set, woken) == (True, [])


def test_a_wake_is_not_lost_when_the_flag_is_set_between_the_two_steps_of_register() -> None:
    class Racing(Interrupt):
        """Is set by another thread right after `register` stored the function, before it looks at the flag."""

        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, value)
            if name == "_wake" and value is not None:
                object.__setattr__(self, "is_set", True)

    woken: list[int] = []
    Racing().register(lambda: woken.append(1))
    assert woken == [1]
