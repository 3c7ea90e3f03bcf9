"""`ImageBlock`: which images may be sent, however the block is made, and what a block shows of itself."""

from __future__ import annotations

import base64
import copy
import pickle
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokwire import ContentBlock, ImageBlock, Message, ToolResultBlock

PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACw="
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)

KNOWN_FILES = [
    (PNG, "image/png"),
    (b"\xff\xd8\xff\xe0\x00\x10JFIF", "image/jpeg"),
    (b"GIF87a\x01\x00", "image/gif"),
    (b"GIF89a\x01\x00", "image/gif"),
    (b"RIFF\x0a\x0a\x00\x00WEBPVP8 ", "image/webp"),
    (b"BM\x46\x0a\x00\x00\x00\x00\x00\x00\x36\x00", "image/bmp"),
]


@pytest.mark.parametrize(
    "url",
    [
        "http://pictures.example",
        "https://pictures.example/cat.png?size=2#top",
        "https://pictures.example/a b.png",
        "https://bilder.example/\u00fc/\u732b.png",
        "https://pictures.example/" + "long/" * 500,
        PIXEL,
        "data:image/svg+xml;base64,PHN2Zy8+",
        "data:image/png;name=cat.png;base64,AAA=",
        "data:image/vnd.microsoft.icon;base64,AA==",
    ],
    ids=lambda url: url[:50],
)
def test_a_url_is_kept_as_it_is(url: str) -> None:
    assert ImageBlock.from_url(url) == ImageBlock(url, "auto")
    assert ImageBlock.from_url(url, "high").url == url


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "the url is empty"),
        ("cat.png", "begins with 'cat.png'; expected http://, https:// or data:image/"),
        ("/srv/cat.png", "begins with '/srv/cat.png'"),
        ("ftp://somebody:secret@pictures.example/cat.png", "begins with 'ftp'; expected"),
        ("file:///srv/cat.png", "begins with 'file'"),
        ("JavaScript:void(0)", "begins with 'JavaScript'"),
        ("HTTP://pictures.example/cat.png", "in lower case"),
        (" https://pictures.example/cat.png", "begins with ' https'"),
        ("http:/pictures.example", "begins with 'http'"),
        ("http://", "ends behind http://; expected a host"),
        ("https://pictures.example/\x00", r"control character '\x00' at position 25"),
        ("https://pictures.example/\n", r"control character '\n'"),
        ("https://pictures.example/\x7f", "control character"),
        ("https://pictures.example/\x85", "control character"),
        ("https://pictures.example/\ud83d", "control character"),
    ],
)
def test_a_url_that_no_server_could_fetch_is_refused(url: str, reason: str) -> None:
    with pytest.raises(ValueError, match="ImageBlock: ") as caught:
        ImageBlock.from_url(url)
    assert reason in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("data:", "the format of the data URL"),
        ("data:image/png;base64", "the format of the data URL"),
        ("data:image/png,AAAA", "the format of the data URL"),
        ("data:image/png;BASE64,AAAA", "the format of the data URL"),
        ("data:image/png,;base64,AAAA", "the format of the data URL"),
        ("data:base64,AAAA", "the format of the data URL"),
        ("data:;base64,AAAA", "'' is not the media type (MIME type) of an image"),
        ("data:text/html;base64,AAAA", "'text/html' is not the media type"),
        ("data:image/;base64,AAAA", "'image/' is not the media type"),
        ("data:image/p ng;base64,AAAA", "'image/p ng' is not the media type"),
        ("data:image/png;name=\r\n;base64,AAAA", r"control character '\r' at position 20"),
        ("data:image/png;base64,", "the base64 data is empty"),
        ("data:image/png;base64,AAAA\n", r"the first '\n' at position 4"),
        ("data:image/png;base64,AAAA,AAAA", "the first ',' at position 4"),
    ],
)
def test_a_data_url_holds_an_image_as_base64(url: str, reason: str) -> None:
    with pytest.raises(ValueError, match="ImageBlock: ") as caught:
        ImageBlock(url)
    assert reason in str(caught.value)


@pytest.mark.parametrize("media_type", ["image/png", "image/svg+xml", "image/x-portable_pixmap", "image/AVIF"])
def test_base64_becomes_a_data_url(media_type: str) -> None:
    assert ImageBlock.from_base64("AbC+/w==", media_type, "low") == ImageBlock(
        f"data:{media_type};base64,AbC+/w==", "low"
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "is empty"),
        ("abc$", "holds invalid characters, the first '$' at position 3"),
        ("ab c", "the first ' ' at position 2"),
        ("abcd\r\n", r"the first '\r' at position 4"),
        ("ab-_", "the first '-' at position 2"),
        ("\u0660abc", "the first '\u0660' at position 0"),
        ("abc\u00e4", "the first '\u00e4' at position 3"),
        ("abc\ud800", r"the first '\ud800' at position 3"),
        ("abcde", "length of the base64 data is 5; expected a multiple of 4"),
        ("abcde=", "length of the base64 data is 6"),
        ("a===", "padding of the base64 data has 3 '='; expected at most 2"),
        ("====", "has 4 '='"),
        ("ab=c", "has a '=' at position 2; expected it at the end"),
        ("a=b=", "has a '=' at position 1; expected it at the end"),
    ],
)
def test_text_that_is_no_base64_is_refused(data: str, reason: str) -> None:
    with pytest.raises(ValueError, match="ImageBlock: ") as caught:
        ImageBlock.from_base64(data, "image/png")
    assert reason in str(caught.value)
    with pytest.raises(ValueError, match="ImageBlock: ") as caught:
        ImageBlock(f"data:image/png;base64,{data}")
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "media_type",
    [
        "",
        "png",
        "image",
        "image/",
        "IMAGE/png",
        "video/mp4",
        "image/png;q=1",
        "image/png, x",
        "image/png\n",
        " image/png",
    ],
)
def test_a_media_type_is_that_of_an_image_and_smuggles_nothing_in(media_type: str) -> None:
    with pytest.raises(ValueError, match="is not the media type \\(MIME type\\) of an image"):
        ImageBlock.from_base64("AAAA", media_type)
    with pytest.raises(ValueError, match="is not the media type"):
        ImageBlock.from_bytes(b"x", media_type)


@pytest.mark.parametrize(("content", "media_type"), KNOWN_FILES)
def test_bytes_tell_their_media_type(content: bytes, media_type: str) -> None:
    expected = ImageBlock(f"data:{media_type};base64,{base64.b64encode(content).decode()}", "high")
    assert ImageBlock.media_type_of(content) == media_type
    for data in (content, bytearray(content), memoryview(content)):
        assert ImageBlock.from_bytes(data, detail="high") == expected


def test_a_media_type_that_is_given_wins_over_the_bytes() -> None:
    assert ImageBlock.from_bytes(PNG, "image/x-odd").url.startswith("data:image/x-odd;base64,")


@pytest.mark.parametrize(
    "content", [b"<svg/>", b"BMW drives", b"RIFF1234WAVE", b"GIF88a", b"\xff\xd8", PNG[1:], b" " + PNG]
)
def test_bytes_of_no_known_kind_need_a_media_type(content: bytes) -> None:
    assert ImageBlock.media_type_of(content) is None
    with pytest.raises(ValueError, match="is not PNG, JPEG, GIF, WebP or BMP; say what it is with media_type"):
        ImageBlock.from_bytes(content)
    assert ImageBlock.from_bytes(content, "image/svg+xml").url.startswith("data:image/svg+xml;base64,")


@pytest.mark.parametrize("media_type", [None, "image/png"])
def test_zero_bytes_are_no_image(media_type: str | None) -> None:
    with pytest.raises(ValueError, match="empty; zero bytes cannot be an image"):
        ImageBlock.from_bytes(b"", media_type)


@given(st.binary(min_size=1, max_size=50))
def test_bytes_come_back_from_the_url(content: bytes) -> None:
    url = ImageBlock.from_bytes(content, "image/png").url
    assert base64.b64decode(url.removeprefix("data:image/png;base64,"), validate=True) == content


@pytest.mark.parametrize("detail", ["", "Low", "medium", "high ", None, 1])
def test_the_detail_is_one_of_three(detail: Any) -> None:
    with pytest.raises(ValueError, match=r"the detail is .*; expected low, high or auto"):
        ImageBlock(PIXEL, detail)
    with pytest.raises(ValueError, match="the detail is"):
        ImageBlock.from_url(PIXEL, detail)
    with pytest.raises(ValueError, match="the detail is"):
        ImageBlock.from_base64("AAAA", "image/png", detail)
    with pytest.raises(ValueError, match="the detail is"):
        ImageBlock.from_bytes(PNG, detail=detail)


@pytest.mark.parametrize(
    ("constructor", "arguments", "hint"),
    [
        ("from_url", [b"http://pictures.example"], "the url must be a str, not bytes"),
        ("from_url", [None], "the url must be a str, not NoneType"),
        ("from_base64", [b"AAAA", "image/png"], "must be a str, not bytes; for bytes use from_bytes"),
        ("from_base64", ["AAAA", b"image/png"], "the media type must be a str, not bytes"),
        ("from_bytes", ["AAAA", "image/png"], "must be bytes, not str; for base64 use from_base64"),
        ("from_bytes", [8, "image/png"], "must be bytes, not int"),
    ],
)
def test_values_of_the_wrong_type_are_told_where_they_belong(constructor: str, arguments: list[Any], hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        getattr(ImageBlock, constructor)(*arguments)


@pytest.mark.parametrize(
    "member", ['"url":"cat.png"', '"url":"data:image/png;base64,!"', f'"url":"{PIXEL}","detail":"x"']
)
def test_reading_json_does_not_go_around_the_rules(member: str) -> None:
    image = f'{{"type":"image",{member}}}'
    result = f'{{"type":"tool_result","tool_use_id":"k","content":[{image}]}}'
    for text, kind in ((image, ImageBlock), (image, ContentBlock), (result, ToolResultBlock)):
        with pytest.raises(msgspec.ValidationError, match="ImageBlock: "):
            msgspec.json.decode(text, type=kind)


def test_neither_do_copies_and_changes() -> None:
    block = ImageBlock(PIXEL)
    assert copy.deepcopy(block) == pickle.loads(pickle.dumps(block)) == block
    with pytest.raises(ValueError, match="ImageBlock: the url begins with 'u'"):
        msgspec.structs.replace(block, url="u")


def test_the_default_detail_may_be_absent_in_json() -> None:
    assert msgspec.json.decode(f'{{"type":"image","url":"{PIXEL}"}}', type=ImageBlock) == ImageBlock(PIXEL, "auto")


def test_a_short_url_is_shown_whole() -> None:
    assert repr(ImageBlock(PIXEL, "low")) == f"ImageBlock(url={PIXEL!r}, detail='low')"


def test_of_a_long_url_only_the_beginning_and_the_size_are_shown() -> None:
    block = ImageBlock.from_bytes(bytes(3_000_000), "image/png")
    assert repr(block) == f"ImageBlock(url='data:image/png;base64,{38 * 'A'}... (4000022 characters)', detail='auto')"
    around = [Message.user_with_blocks([block]), ToolResultBlock("k", (block,))]
    assert all(len(repr(holder)) < 300 for holder in around)
    assert all(len(str(value)) < 120 for _, value in block.__rich_repr__())


def test_no_error_repeats_a_long_url() -> None:
    huge = 1_000_000
    for url in (
        "x" * huge,
        "data:" + "x" * huge,
        "data:" + "x" * huge + ";base64,AAAA",
        "data:image/png;base64,A" + "!" * huge,
    ):
        with pytest.raises(ValueError, match="ImageBlock: ") as caught:
            ImageBlock(url)
        assert len(str(caught.value)) < 250
    detail: Any = "x" * huge
    with pytest.raises(ValueError, match="the detail is") as caught:
        ImageBlock(PIXEL, detail)
    assert len(str(caught.value)) < 250


def test_many_megabytes_are_taken() -> None:
    block = ImageBlock.from_base64("QUJD" * 5_000_000, "image/png")
    assert len(block.url) == 20_000_022
