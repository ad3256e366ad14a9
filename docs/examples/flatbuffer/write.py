"""Writes total.tfg: a variable to which each call adds the sum of the squares of its feed."""

import flatbuffers
from tfg import Argument, Attribute, Declaration, Entry, Fetch, Graph, NamedSize, Node, Size, SymbolValue, Type, Variable
from tfg.AttributeValue import AttributeValue
from tfg.Declared import Declared

SCALAR, VECTOR = 0, 1  # the types, by number


def vector(builder, start, offsets):
    """Ends a vector of tables that `start` begins; FlatBuffers are written backwards."""
    start(builder, len(offsets))
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return builder.EndVector()


def make_type(builder, formulas):
    sizes = []
    for formula in formulas:
        text = builder.CreateString(formula)
        Size.Start(builder)
        Size.AddFormula(builder, text)
        sizes.append(Size.End(builder))
    sizes = vector(builder, Type.StartSizesVector, sizes)
    element = builder.CreateString("f32")
    Type.Start(builder)
    Type.AddElement(builder, element)
    Type.AddSizes(builder, sizes)
    return Type.End(builder)


def make_attribute(builder, name, symbol):
    """An attribute that names a variable."""
    text, symbol = builder.CreateString(name), builder.CreateString(symbol)
    SymbolValue.Start(builder)
    SymbolValue.AddValue(builder, symbol)
    value = SymbolValue.End(builder)
    Attribute.Start(builder)
    Attribute.AddName(builder, text)
    Attribute.AddValueType(builder, AttributeValue.SymbolValue)
    Attribute.AddValue(builder, value)
    return Attribute.End(builder)


def make_node(builder, operation, operands, results, variable=None):
    def numbers(start, values):
        start(builder, len(values))
        for value in reversed(values):
            builder.PrependUint32(value)
        return builder.EndVector()

    text = builder.CreateString(operation)
    operands = numbers(Node.StartOperandsVector, operands)
    results = numbers(Node.StartResultsVector, results)
    attributes = [make_attribute(builder, "variable", variable)] if variable else []
    attributes = vector(builder, Node.StartAttributesVector, attributes)
    Node.Start(builder)
    Node.AddOperation(builder, text)
    Node.AddOperands(builder, operands)
    Node.AddResults(builder, results)
    Node.AddAttributes(builder, attributes)
    return Node.End(builder)


def make_variable(builder, name):
    text = builder.CreateString(name)
    Variable.Start(builder)
    Variable.AddName(builder, text)
    Variable.AddType(builder, SCALAR)
    variable = Variable.End(builder)
    Declaration.Start(builder)
    Declaration.AddDeclaredType(builder, Declared.Variable)
    Declaration.AddDeclared(builder, variable)
    return Declaration.End(builder)


def make_entry(builder):
    nodes = [
        make_node(builder, "mul", [0, 0], [1]),
        make_node(builder, "sum", [1], [2]),
        make_node(builder, "read", [], [3], variable="total"),
        make_node(builder, "add", [3, 2], [4]),
        make_node(builder, "assign", [4], [5], variable="total"),
        make_node(builder, "return", [5], []),
    ]
    nodes = vector(builder, Entry.StartNodesVector, nodes)
    name, feed, fetch, size = map(builder.CreateString, ["add", "x", "total", "n"])

    Argument.Start(builder)
    Argument.AddValue(builder, 0)
    Argument.AddName(builder, feed)
    feeds = vector(builder, Entry.StartFeedsVector, [Argument.End(builder)])
    Fetch.Start(builder)
    Fetch.AddName(builder, fetch)
    fetches = vector(builder, Entry.StartFetchesVector, [Fetch.End(builder)])
    NamedSize.Start(builder)
    NamedSize.AddName(builder, size)
    sizes = vector(builder, Entry.StartSizesVector, [NamedSize.End(builder)])

    types = [VECTOR, VECTOR, SCALAR, SCALAR, SCALAR, SCALAR]  # of values 0 to 5
    Entry.StartValuesVector(builder, len(types))
    for type in reversed(types):
        builder.PrependUint32(type)
    values = builder.EndVector()

    Entry.Start(builder)
    Entry.AddName(builder, name)
    Entry.AddValues(builder, values)
    Entry.AddSizes(builder, sizes)
    Entry.AddFeeds(builder, feeds)
    Entry.AddFetches(builder, fetches)
    Entry.AddNodes(builder, nodes)
    return Entry.End(builder)


def main():
    builder = flatbuffers.Builder()
    name = builder.CreateString("total")
    types = vector(builder, Graph.StartTypesVector, [make_type(builder, []), make_type(builder, ["n"])])
    declarations = vector(builder, Graph.StartDeclarationsVector, [make_variable(builder, "total")])
    entries = vector(builder, Graph.StartEntriesVector, [make_entry(builder)])
    Graph.Start(builder)
    Graph.AddEdition(builder, 1)
    Graph.AddName(builder, name)
    Graph.AddTypes(builder, types)
    Graph.AddDeclarations(builder, declarations)
    Graph.AddEntries(builder, entries)
    builder.Finish(Graph.End(builder), file_identifier=b"TFCG")
    with open("total.tfg", "wb") as file:
        file.write(builder.Output())


main()
