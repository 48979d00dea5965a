"""A pack that judges nothing: what the engine and the policy SDK cost by themselves."""

from pulumi_policy import PolicyPack, StackValidationPolicy

PolicyPack("empty", [StackValidationPolicy("nothing", "Nothing is judged.", lambda args, report: None)])
