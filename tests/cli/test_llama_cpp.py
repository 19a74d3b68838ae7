"""`hettop bench URL` against a real llama.cpp server with a tiny random model, where its packages are installed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.running import hettop, one_document

pytest.importorskip("httpx", reason="httpx is not installed")
pytest.importorskip("xllamacpp", reason="llama.cpp is not installed: pip install xllamacpp gguf (100 MB)")
gguf: Any = pytest.importorskip("gguf", reason="no random model can be written: pip install gguf")

WIDTH, HIDDEN, LAYERS, HEADS = 64, 128, 2, 4
PIECES = ["\u2581", *map(chr, range(ord("a"), ord("z") + 1))]
SERVE = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.n_parallel, params.port = sys.argv[1], 4096, 2, 0
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def write_random_llama(path: Path) -> None:
    """A llama of random weights; the rows of control tokens and bytes are 0, so that each token has text of its own."""
    tokens = [b"<unk>", b"<s>", b"</s>", *(f"<0x{byte:02X}>".encode() for byte in range(256))]
    plain = len(tokens)
    tokens += [piece.encode() for piece in PIECES]
    kinds = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.CONTROL] * 2, *[gguf.TokenType.BYTE] * 256]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(2048)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * plain + [-float(at) for at in range(len(PIECES))])
    writer.add_token_types([int(kind) for kind in (*kinds, *[gguf.TokenType.NORMAL] * len(PIECES))])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template("{% for m in messages %}{{ m['content'] }} {% endfor %}")
    rng = np.random.default_rng(1)

    def random(name: str, *shape: int, first: int = 0) -> None:
        values = (0.3 * rng.standard_normal(shape)).astype(np.float32)
        values[:first] = 0
        writer.add_tensor(f"{name}.weight", values)

    random("token_embd", len(tokens), WIDTH)
    random("output", len(tokens), WIDTH, first=plain)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for layer in range(LAYERS):
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{norm}.weight", np.ones(WIDTH, np.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            random(f"blk.{layer}.{name}", WIDTH, WIDTH)
        random(f"blk.{layer}.ffn_gate", HIDDEN, WIDTH)
        random(f"blk.{layer}.ffn_up", HIDDEN, WIDTH)
        random(f"blk.{layer}.ffn_down", WIDTH, HIDDEN)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("llama") / "random.gguf"
    write_random_llama(path)
    with subprocess.Popen(
        [sys.executable, "-c", SERVE, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        where = next((line.strip() for line in process.stdout if line.startswith("http")), "")
        yield f"{where}/v1"
        process.stdin.close()


def test_every_token_of_a_real_server_is_measured(address: str) -> None:
    done = hettop("bench", address, "-n", "6", "--max-tokens", "20", "--prompt-tokens", "30", "--json")
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    (answers,) = document["answers"]
    assert (answers["answers"], answers["failed"], answers["tokens"], answers["chunks"]) == (6, 0, 120, 120)
    rows = {row["unit"]: row["n"] for row in document["conditions"]}
    assert rows == {"SERVER": 6 * 19 - answers["chunks_of_several"], "SERVER~prefill": 6}


def test_a_second_run_finds_no_prompt_in_the_servers_cache(address: str, tmp_path: Path) -> None:
    found = []
    for run in ("a", "b"):
        recording = tmp_path / f"{run}.jsonl"
        done = hettop("bench", address, "-n", "2", "--max-tokens", "4", "--record", str(recording))
        assert done.returncode == 0, done.stderr
        lines = map(json.loads, recording.read_text().splitlines())
        found += [line["prompt_tokens"] - line.get("cached_tokens", 0) for line in lines if line["k"] == "answer"]
    assert min(found) > 100, "the words of 128, in letters"


def test_answers_run_at_once(address: str) -> None:
    done = hettop("bench", address, "-n", "6", "--max-tokens", "20", "--concurrency", "2", "--json")
    assert done.returncode == 0, done.stderr
    assert one_document(done.stdout)["answers"][0]["tokens"] == 120


def test_a_model_that_the_server_does_not_have_is_not_taken_for_the_one_that_answers(address: str) -> None:
    done = hettop("bench", address, "--model", "nonsense", "-n", "2", "--max-tokens", "4")
    assert "model nonsense (the server names " in " ".join(done.stdout.split())


def test_a_prompt_beyond_the_context_is_refused_in_the_servers_words(address: str) -> None:
    done = hettop("bench", address, "--prompt-tokens", "4000", "-n", "2")
    assert (done.returncode, "exceeds the available context size" in done.stderr) == (3, True)
