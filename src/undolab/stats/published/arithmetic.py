"""Formulas over published counts, such as `(741/762-252/759)/(1-252/759)`, evaluated exactly."""

import ast
import operator
from collections.abc import Callable
from fractions import Fraction

from undolab.model.errors import UndolabError

_OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def evaluate(formula: str) -> Fraction:
    """Return the exact value of a formula of numbers, brackets and + - * /.

    Raises:
        UndolabError: it holds something else, or divides by zero.
    """
    try:
        return _value(ast.parse(formula, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError) as error:
        raise UndolabError(f"Formula {formula!r} has no value ({error}); mend it.") from error


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return Fraction(str(node.value))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError("it holds more than numbers, brackets and + - * /")
