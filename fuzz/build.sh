#!/bin/bash -eu
# Builds the targets for OSS-Fuzz and ClusterFuzzLite. It runs in the image gcr.io/oss-fuzz-base/base-builder-python,
# with the repository as the working directory; compile_python_fuzzer, SRC and OUT come from the image.

python3 -m pip install --no-cache-dir .

for target in \
    lines \
    sse \
    openai_chat \
    anthropic \
    openai_responses \
    gemini \
    ollama \
    bedrock \
    cohere \
    decoder \
    http11
do
    fuzzer="$SRC/fuzz_$target.py"
    cat > "$fuzzer" <<EOF
import sys
from fuzz._atheris import main
main(["$target", *sys.argv[1:]])
EOF
    PYTHONPATH="$PWD" compile_python_fuzzer "$fuzzer" --paths "$PWD" --hidden-import tokwire
    (cd "fuzz/corpus/$target" && zip -q "$OUT/fuzz_${target}_seed_corpus.zip" ./*)
    cp fuzz/words.dict "$OUT/fuzz_$target.dict"
done
