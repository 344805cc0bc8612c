"""Arrows go one way: what each stage of compiler/ includes is a stage that CMakeLists.txt lets it use, and nothing there
includes runtime/ or libtorch. Each stage has a link program beside this file."""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COMPILER = ROOT / "compiler"
TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
ANTLR = re.compile(r"^(antlr4-|Rcn(Lexer|Parser))")
ANTLR_FILES = 2  # in compiler/syntax; the parse tree lives there only


def stages():
    """Stage -> all stages that it may include, itself among them. They are listed lowest first."""
    result, problems = {}, []
    text = re.sub(r"#.*", "", (ROOT / "CMakeLists.txt").read_text())
    for name, *uses in map(str.split, re.findall(r"rcnc_stage\(([^)]*)\)", text)):
        result[name] = {name}
        for used in uses:
            if used not in result:
                problems.append(f"CMakeLists.txt: stage {name} uses {used}, which does not stand before it")
            result[name] |= result.get(used, set())
    return result, problems


def includes(file):
    """(line number, included path) of each include in the file."""
    for number, line in enumerate(file.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if match:
            yield number, match[1]


def main():
    allowed, problems = stages()
    antlr_files = set()
    for folder in sorted(path for path in COMPILER.iterdir() if path.is_dir()):
        if folder.name not in allowed:
            problems.append(f"compiler/{folder.name} is no stage of CMakeLists.txt")
    for stage in allowed:
        if not (HERE / f"{stage}.cpp").exists():
            problems.append(f"tests/link/{stage}.cpp is missing: every stage has a link program")
    sources = [path for path in COMPILER.rglob("*") if path.suffix in (".cpp", ".h", ".def", ".in")]
    for file in sorted(sources):
        relative = file.relative_to(ROOT)
        stage = relative.parts[1] if len(relative.parts) > 2 else None  # None: main.cpp, which may use all
        for number, path in includes(file):
            where = f"{relative}:{number}: includes {path}"
            if path.startswith("runtime/") or TORCH.match(path):
                problems.append(f"{where}: compiling must not need libtorch")
            if ANTLR.match(path):
                antlr_files.add(relative)
            used = re.match(r"compiler/(\w+)/", path)
            if stage in allowed and used and used[1] not in allowed[stage]:
                problems.append(f"{where}: stage {stage} does not use {used[1]}")
            if not path.startswith("compiler/") and (file.parent / path).exists():
                problems.append(f"{where}: includes are written from the root")
    for file in antlr_files:
        if file.parts[1] != "syntax" or file.suffix != ".cpp":
            problems.append(f"{file}: ANTLR is included in .cpp files of compiler/syntax only")
    if len(antlr_files) > ANTLR_FILES:
        problems.append(f"ANTLR is included in {len(antlr_files)} files: {', '.join(map(str, sorted(antlr_files)))}")
    print(*problems, f"{len(sources)} files, {len(problems)} problems", sep="\n")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
