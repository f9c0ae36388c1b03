"""A row of each format, written from its public specification, and what becomes of it."""

from __future__ import annotations

import json
from typing import Any

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Ulm"}'}}
TALK = [
    {"role": "user", "content": "Is it raining in Ulm?"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "content": "rain", "tool_call_id": "c1"},
    {"role": "assistant", "content": "Yes."},
]
"""A conversation with a call of a tool, as Concord keeps it."""
SHORT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]

# https://platform.openai.com/docs/api-reference/chat/create: messages of a request, with the answer of its completion
OPENAI = {
    "model": "gpt-4o-2024-08-06",
    "messages": [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": [{"type": "text", "text": "Is it raining in Ulm?"}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    ],
    "id": "chatcmpl-1",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes.", "refusal": None}}],
}
# https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md#sharegpt-format
SHAREGPT = {
    "conversations": [
        {"from": "human", "value": "Is it raining in Ulm?"},
        {"from": "function_call", "value": '{"name": "weather", "arguments": {"city": "Ulm"}}'},
        {"from": "observation", "value": "rain"},
        {"from": "gpt", "value": "Yes."},
    ],
    "system": "Be short.",
    "id": "s-1",
}
# https://docs.anthropic.com/en/api/messages
ANTHROPIC = {
    "model": "claude-sonnet-4-5",
    "system": [{"type": "text", "text": "Be short."}],
    "messages": [
        {"role": "user", "content": "Is it raining in Ulm?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I have to look.", "signature": "s"},
                {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Ulm"}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "rain"}]},
    ],
    "response": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "Yes."}],
        "stop_reason": "end_turn",
    },
    "custom_id": "a-1",
}
# https://huggingface.co/datasets/openbmb/UltraFeedback
ULTRAFEEDBACK = {
    "source": "evol_instruct",
    "instruction": "Name a colour.",
    "models": ["alpaca-7b", "gpt-4", "llama-2-7b-chat"],
    "completions": [
        {
            "annotations": {"helpfulness": {"Rating": "2", "Rationale": "…", "Type": ["1"]}},
            "custom_system_prompt": "…",
            "model": "alpaca-7b",
            "principle": "helpfulness",
            "response": "No.",
            "critique": "…",
            "overall_score": 2.0,
            "fine-grained_score": 1.5,
        },
        {"model": "gpt-4", "response": "Blue.", "overall_score": 9.0},
        {"model": "llama-2-7b-chat", "response": "Red!", "overall_score": 9.0},
    ],
    "correct_answers": ["None"],
    "incorrect_answers": ["None"],
}
# https://huggingface.co/datasets/HuggingFaceH4/ultrafeedback_binarized
BINARIZED = {
    "prompt": "Name a colour.",
    "prompt_id": "p-1",
    "chosen": [{"role": "user", "content": "Name a colour."}, {"role": "assistant", "content": "Blue."}],
    "rejected": [{"role": "user", "content": "Name a colour."}, {"role": "assistant", "content": "No."}],
    "messages": [{"role": "user", "content": "Name a colour."}, {"role": "assistant", "content": "Blue."}],
    "score_chosen": 9.0,
    "score_rejected": 2.0,
}
# https://huggingface.co/datasets/Anthropic/hh-rlhf
HH_RLHF = {
    "chosen": "\n\nHuman: Hi\n\nAssistant: Hello.\n\nHuman: Name a colour.\n\nAssistant: Blue: like the sky.",
    "rejected": "\n\nHuman: Hi\n\nAssistant: Hello.\n\nHuman: Name a colour.\n\nAssistant: No.",
}
# https://platform.openai.com/docs/guides/direct-preference-optimization
PREFERENCES = {
    "input": {"messages": [{"role": "user", "content": "Name a colour."}], "tools": [], "parallel_tool_calls": True},
    "preferred_output": [{"role": "assistant", "content": "Blue."}],
    "non_preferred_output": [{"role": "assistant", "content": "No."}],
}
# https://huggingface.co/datasets/lmsys/lmsys-chat-1m
LMSYS = {
    "conversation_id": "33f01939a744455c869cb234afca47f1",
    "model": "wizardlm-13b",
    "conversation": SHORT,
    "turn": 1,
    "language": "English",
    "openai_moderation": [{"categories": {"hate": False}, "category_scores": {"hate": 0.1}, "flagged": False}],
    "redacted": False,
}
# https://huggingface.co/datasets/allenai/WildChat-1M
WILDCHAT = {
    "conversation_hash": "4aaa3b2f",
    "model": "gpt-4-0314",
    "timestamp": "2023-04-09T00:02:53+00:00",
    "conversation": [
        {
            **SHORT[0],
            "language": "English",
            "toxic": False,
            "redacted": False,
            "hashed_ip": "22fd",
            "header": {"a": "b"},
        },
        {**SHORT[1], "language": "English", "toxic": False, "redacted": False, "turn_identifier": 101002},
    ],
    "turn": 1,
    "language": "English",
    "openai_moderation": [],
    "detoxify_moderation": [],
    "toxic": False,
    "redacted": False,
    "state": "Texas",
    "country": "United States",
    "hashed_ip": "22fd87ba",
    "header": {"accept-language": "en-US", "user-agent": "Mozilla"},
}
# https://huggingface.co/datasets/lmsys/chatbot_arena_conversations
ARENA = {
    "question_id": "58210e39b3fd4441a2bd4a518bb44c2d",
    "model_a": "chatglm-6b",
    "model_b": "koala-13b",
    "winner": "model_b",
    "judge": "arena_user_973",
    "conversation_a": [SHORT[0], {"role": "assistant", "content": "Hello from A."}],
    "conversation_b": [SHORT[0], {"role": "assistant", "content": "Hello from B."}],
    "turn": 1,
    "anony": True,
    "language": "English",
    "tstamp": 1682351591.1322,
    "openai_moderation": {"categories": {}, "category_scores": {}, "flagged": False},
}
# https://huggingface.co/datasets/lmsys/lmsys-arena-human-preference-55k (CSV: lists are JSON texts)
ARENA_55K = {
    "id": "30192",
    "model_a": "gpt-4-1106-preview",
    "model_b": "gpt-4-0613",
    "prompt": '["One?", "And two?"]',
    "response_a": '["Eins.", "Zwei."]',
    "response_b": '["Un.", null]',
    "winner_model_a": "1",
    "winner_model_b": "0",
    "winner_tie": "0",
}


def otel_value(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otel_value(one) for one in value]}}
    return {"kvlistValue": {"values": otel_attributes(value)}}


def otel_attributes(given: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": otel_value(value)} for name, value in given.items()]


PARTS_IN = [
    {"role": "user", "parts": [{"type": "text", "content": "Is it raining in Ulm?"}]},
    {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Ulm"}}],
    },
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "rain"}]},
]
PARTS_OUT = [{"role": "assistant", "parts": [{"type": "text", "content": "Yes."}], "finish_reason": "stop"}]
SPAN = {
    "traceId": "5B8EFFF798038103D269B633813FC60C",
    "spanId": "EEE19B7EC3C1B174",
    "parentSpanId": "EEE19B7EC3C1B173",
    "name": "chat gpt-4o",
    "kind": 3,
    "startTimeUnixNano": "1544712660000000000",
    "endTimeUnixNano": "1544712661000000000",
    "attributes": otel_attributes(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.response.model": "gpt-4o-2024-08-06",
            "gen_ai.conversation.id": "conv-5",
            "gen_ai.usage.input_tokens": 20,
            "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be short."}]),
            "gen_ai.input.messages": json.dumps(PARTS_IN),
            "gen_ai.output.messages": PARTS_OUT,
        }
    ),
    "events": [
        {
            "timeUnixNano": "1",
            "name": "gen_ai.evaluation.result",
            "attributes": otel_attributes(
                {
                    "gen_ai.evaluation.name": "Relevance",
                    "gen_ai.evaluation.score.value": 0.25,
                    "gen_ai.evaluation.score.label": "poor",
                }
            ),
        }
    ],
}
EARLIER = {
    **SPAN,
    "spanId": "EEE19B7EC3C1B172",
    "events": [],
    "attributes": otel_attributes(
        {
            "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be short."}]),
            "gen_ai.input.messages": json.dumps(PARTS_IN[:1]),
            "gen_ai.output.messages": json.dumps(PARTS_IN[1:2]),
        }
    ),
}
TOOL_SPAN = {**SPAN, "spanId": "1", "name": "execute_tool weather", "attributes": [], "events": []}
# https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/ in https://opentelemetry.io/docs/specs/otlp/
OPENTELEMETRY = {
    "resourceSpans": [
        {
            "resource": {"attributes": otel_attributes({"service.name": "my.service"})},
            "scopeSpans": [{"scope": {"name": "my.library"}, "spans": [EARLIER, TOOL_SPAN, SPAN]}],
        }
    ]
}
# The same by events, as the conventions had it until version 1.36
OLD_EVENTS = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "t",
                            "spanId": "s",
                            "attributes": otel_attributes({"gen_ai.request.model": "gpt-4"}),
                            "events": [
                                {"name": "gen_ai.user.message", "attributes": otel_attributes({"content": "Hi"})},
                                {
                                    "name": "gen_ai.choice",
                                    "attributes": otel_attributes(
                                        {"index": 0, "message": '{"content": "Hello.", "role": "assistant"}'}
                                    ),
                                },
                            ],
                        }
                    ]
                }
            ]
        }
    ]
}
# https://docs.smith.langchain.com/reference/data_formats/run_data_format, with serialised messages of LangChain
LANGSMITH = {
    "id": "5b0d7b4e-0f5d-4a5b-8a6e-7f1d2c3b4a5f",
    "name": "ChatOpenAI",
    "run_type": "llm",
    "inputs": {
        "messages": [
            [
                {
                    "lc": 1,
                    "type": "constructor",
                    "id": ["langchain", "schema", "messages", "HumanMessage"],
                    "kwargs": {"content": "Hi", "type": "human"},
                }
            ]
        ]
    },
    "outputs": {
        "generations": [
            [
                {
                    "text": "Hello.",
                    "type": "ChatGeneration",
                    "message": {
                        "lc": 1,
                        "type": "constructor",
                        "id": ["langchain", "schema", "messages", "AIMessage"],
                        "kwargs": {"content": "Hello.", "type": "ai", "tool_calls": []},
                    },
                }
            ]
        ],
        "llm_output": None,
    },
    "extra": {"metadata": {"ls_model_name": "gpt-4o", "thread_id": "th-1"}, "runtime": {}},
    "trace_id": "5b0d7b4e-0f5d-4a5b-8a6e-7f1d2c3b4a5f",
    "parent_run_id": None,
    "feedback_stats": {"user_score": {"n": 1, "avg": 0.0, "values": {}}},
    "tags": ["prod"],
    "total_tokens": 12,
}
# https://api.reference.langfuse.com: a trace with its details
LANGFUSE = {
    "id": "trace-1",
    "name": "support",
    "timestamp": "2026-01-02T03:04:05Z",
    "input": {"messages": [{"role": "user", "content": "Hi"}]},
    "output": {"role": "assistant", "content": "Hello."},
    "sessionId": "session-9",
    "metadata": {"team": "a"},
    "tags": ["beta"],
    "public": False,
    "htmlPath": "/project/p/traces/trace-1",
    "observations": [{"id": "o1", "type": "GENERATION", "model": "gpt-4o", "input": "…", "output": "…"}],
    "scores": [
        {"id": "s1", "name": "user-feedback", "value": 0, "dataType": "BOOLEAN", "source": "API"},
        {"id": "s2", "name": "tone", "value": 1, "stringValue": "rude", "dataType": "CATEGORICAL"},
    ],
}
# https://mlflow.org/docs/latest/api_reference/python_api/mlflow.entities.html#mlflow.entities.Trace (Trace.to_json)
MLFLOW = {
    "info": {
        "trace_id": "tr-1",
        "trace_location": {"type": "MLFLOW_EXPERIMENT"},
        "request_time": "2026-01-02T03:04:05Z",
        "state": "OK",
        "trace_metadata": {"mlflow.trace.session": "session-9"},
        "tags": {"mlflow.traceName": "predict", "team": "a"},
        "assessments": [
            {
                "assessment_name": "correct",
                "source": {"source_type": "HUMAN", "source_id": "bob"},
                "feedback": {"value": False},
            }
        ],
    },
    "data": {
        "spans": [
            {
                "trace_id": "abc",
                "span_id": "1",
                "parent_span_id": None,
                "name": "predict",
                "attributes": {
                    "mlflow.spanInputs": '{"question": "Hi"}',
                    "mlflow.spanOutputs": '"Hello."',
                    "mlflow.spanType": '"CHAIN"',
                },
            },
            {
                "trace_id": "abc",
                "span_id": "2",
                "parent_span_id": "1",
                "name": "Completions",
                "attributes": {"mlflow.spanInputs": '{"model": "gpt-4o", "messages": []}', "mlflow.spanOutputs": "{}"},
            },
        ]
    },
}
# https://mlflow.org/docs/latest/genai/tracing/search-traces (a row of the data frame as JSON)
MLFLOW_ROW = {
    "trace_id": "tr-2",
    "request": {"messages": [{"role": "user", "content": "Hi"}]},
    "response": {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}}]},
    "state": "OK",
    "assessments": [],
    "spans": [],
}
