"""The user's classes: their attributes, their fields, building an instance."""

from __future__ import annotations

import ast

from .frames import Frame
from .machine import CALL, Arguments, Machine
from .paths import PathEnd
from .values import ABSENT, BoundMethod, Class, EnumMember, Function, Instance, Library, Opaque, Partial, Unknown, Value

_DATACLASS = (
    "dataclasses.dataclass",
    "flax.struct.dataclass",
    "chex.dataclass",
    "jax_dataclasses.pytree_dataclass",
    "pydantic.dataclasses.dataclass",
)
FIELDS = ("dataclasses.field", "flax.struct.field")
_REGISTER = "jax.tree_util.register_dataclass"
_ENUMS = ("enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag")
_PLAIN_BASES = ("object", "abc.ABC", "typing.Generic", "typing.Protocol", "Exception", "ValueError", "typing_extensions.Protocol")


def class_attribute(cls: Class, name: str) -> Value | None:
    """What ``name`` is bound to in the class or the nearest base that has it; None when none has."""
    for ancestor in cls.lineage():
        if name in ancestor.frame.names:
            return ancestor.frame.names[name]
    return None


def fields_of(cls: Class) -> dict[str, Value]:
    """The annotated fields of a dataclass or NamedTuple in order, with their defaults (``ABSENT`` where there is none)."""
    result: dict[str, Value] = {}
    for ancestor in reversed(list(cls.lineage())):
        for statement in ancestor.node.body:
            if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
                continue
            if "ClassVar" in ast.unparse(statement.annotation):
                continue
            result.pop(statement.target.id, None)
            result[statement.target.id] = _field_default(ancestor.frame.names.get(statement.target.id, ABSENT))
    return result


def subtrees_of(cls: Class) -> list[str]:
    """The fields that are subtrees where an object of the class is a node of a pytree: all but those that are static.

    Mirrors ``jax/_src/tree_util.py``, ``register_dataclass``.
    """
    return [name for name in fields_of(cls) if name not in cls.meta and not _is_static(class_attribute(cls, name))]


def _is_static(field: Value) -> bool:
    """Whether ``dataclasses.field(metadata={"static": True})`` or ``flax.struct.field(pytree_node=False)`` made the field."""
    if not isinstance(field, Opaque) or field.name not in FIELDS:
        return False
    metadata = field.kwargs.get("metadata")
    return field.kwargs.get("pytree_node") is False or (isinstance(metadata, dict) and metadata.get("static") is True)


def _field_default(value: Value) -> Value:
    if isinstance(value, Opaque) and value.name in FIELDS:
        if "default" in value.kwargs:
            return value.kwargs["default"]
        return ABSENT if "default_factory" not in value.kwargs else value
    return value


def define_class(machine: Machine, node: ast.ClassDef, frame: Frame) -> Class:
    """Run a class body and classify the class by its bases and decorators."""
    scope = Frame("class", frame.module, frame)
    bases = tuple(machine.evaluate(base, frame) for base in node.bases if not isinstance(base, ast.Starred))
    cls = Class(node, frame.module, scope, bases)
    names = [base.name for base in bases if isinstance(base, Library)]
    cls.complete = all((isinstance(b, Class) and b.complete) or (isinstance(b, Library) and _known_base(b.name)) for b in bases)
    for base in bases:
        if isinstance(base, Class) and base.kind in ("enum", "dataclass", "namedtuple"):
            cls.kind = base.kind
    if any(name in _ENUMS for name in names):
        cls.kind = "enum"
    elif "typing.NamedTuple" in names:
        cls.kind = "namedtuple"
    machine.execute(node.body, scope)
    for name, value in scope.names.items():
        if isinstance(value, Function) and value.owner is None:
            value.owner = cls
        elif cls.kind == "enum" and not name.startswith("_") and not isinstance(value, Function):
            scope.names[name] = EnumMember(cls, name, value)
    for decorator in node.decorator_list:
        value = machine.evaluate(decorator, frame)
        name = value.name if isinstance(value, Library | Opaque) else ""
        if name in _DATACLASS or name.endswith(".dataclass"):
            cls.kind = "dataclass"
        if isinstance(value, Partial) and isinstance(value.func, Library) and value.func.name == _REGISTER:
            machine.call(value, Arguments([cls]), decorator, frame)
    return cls


def _known_base(name: str) -> bool:
    return name in _ENUMS or name in _PLAIN_BASES or name == "typing.NamedTuple" or name.startswith("typing.")


def _construct(machine: Machine, cls: Class, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """``cls(...)``."""
    if cls.kind == "enum":
        return _enum_lookup(cls, arguments)
    instance = Instance(cls)
    if cls.kind in ("dataclass", "namedtuple") and class_attribute(cls, "__init__") is None:
        return _fill_fields(machine, instance, arguments, node, frame)
    initialiser = class_attribute(cls, "__init__")
    instance.complete = cls.complete
    if isinstance(initialiser, Function):
        machine.call(BoundMethod(instance, initialiser), arguments, node, frame)
    else:
        instance.complete = instance.complete and not arguments.args and not arguments.kwargs
    return instance


def _enum_lookup(cls: Class, arguments: Arguments) -> Value:
    wanted = arguments.args[0] if arguments.args else None
    for member in cls.frame.names.values():
        if isinstance(member, EnumMember) and type(member.value) is type(wanted) and member.value == wanted:
            return member
    return wanted if isinstance(wanted, EnumMember) else Unknown(f"a member of `{cls.name}`", host=True)


def _fill_fields(machine: Machine, instance: Instance, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    fields = fields_of(instance.cls)
    names = list(fields)
    if len(arguments.args) > len(names) and arguments.exact and instance.cls.complete:
        raise PathEnd("raise")
    given = dict(zip(names, arguments.args, strict=False)) | arguments.kwargs
    for name, default in fields.items():
        if name in given:
            instance.attrs[name] = given[name]
        elif isinstance(default, Opaque):
            instance.attrs[name] = machine.call(default.kwargs["default_factory"], Arguments([]), node, frame)
        elif default is not ABSENT:
            instance.attrs[name] = default
        else:
            instance.attrs[name] = Unknown(f"field `{name}` of `{instance.cls.name}`", f"{instance.cls.name}.{name}", host=True)
            instance.complete = False
    instance.complete = instance.complete and arguments.exact and instance.cls.complete
    after = class_attribute(instance.cls, "__post_init__")
    if isinstance(after, Function):
        machine.call(BoundMethod(instance, after), Arguments([]), node, frame)
    return instance


def _call_instance(machine: Machine, instance: Instance, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    method = class_attribute(instance.cls, "__call__")
    if isinstance(method, Function):
        return machine.call(BoundMethod(instance, method), arguments, node, frame)
    return Unknown(f"calling a `{instance.cls.name}`", host=machine.kernel is None)


CALL[Class] = _construct
CALL[Instance] = _call_instance
