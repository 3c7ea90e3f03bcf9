"""`image_from_file`: what a file on this machine becomes."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

import tokwire
from tokwire_http import image_from_file

if TYPE_CHECKING:
    from pathlib import Path

PNG = b"\x89PNG\r\n\x1a\n" + bytes(10)
JPEG = b"\xff\xd8\xff\xe0" + bytes(10)


def written(folder: Path, name: str, content: bytes) -> Path:
    """A file with that content."""
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("detail", ["auto", "low", "high"])
def test_a_file_is_taken_whole(tmp_path: Path, detail: str) -> None:
    path = written(tmp_path, "cat.png", PNG)
    expected = tokwire.ImageBlock("data:image/png;base64," + base64.b64encode(PNG).decode(), detail)
    assert image_from_file(path, detail) == image_from_file(str(path), detail) == expected
    assert image_from_file(path).detail == "auto"


@pytest.mark.parametrize("name", ["cat.png", "cat.jpg", "cat.svg", "cat", "cat.txt", "cat.jpeg.bak"])
def test_the_content_wins_over_the_name(tmp_path: Path, name: str) -> None:
    assert image_from_file(written(tmp_path, name, JPEG)).url.startswith("data:image/jpeg;base64,")


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.jpg", "image/jpeg"),
        ("a.JPEG", "image/jpeg"),
        ("a.Png", "image/png"),
        ("a.gif", "image/gif"),
        ("a.webp", "image/webp"),
        ("a.BMP", "image/bmp"),
        ("drawing.v2.svg", "image/svg+xml"),
    ],
)
def test_the_name_tells_where_the_content_does_not(tmp_path: Path, name: str, media_type: str) -> None:
    block = image_from_file(written(tmp_path, name, b"<svg xmlns='http://www.w3.org/2000/svg'/>"))
    assert block.url.startswith(f"data:{media_type};base64,")


@pytest.mark.parametrize("name", ["notes.txt", "png", ".png", "a.tiff", "a.png.gz"])
def test_what_is_no_image_by_content_or_name_is_refused(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, b"hello")
    with pytest.raises(ValueError, match=r"neither content nor name .* \.jpg, .*\.svg, or .*from_bytes") as caught:
        image_from_file(path)
    assert str(path) in str(caught.value)


def test_an_empty_file_is_refused_whatever_its_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"empty\.png: the file is empty; zero bytes cannot be an image"):
        image_from_file(written(tmp_path, "empty.png", b""))


def test_a_file_that_cannot_be_read_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"gone\.png"):
        image_from_file(tmp_path / "gone.png")
    with pytest.raises(IsADirectoryError):
        image_from_file(tmp_path)


def test_the_detail_is_checked(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the detail is 'sharp'; expected low, high or auto"):
        image_from_file(written(tmp_path, "cat.png", PNG), "sharp")
