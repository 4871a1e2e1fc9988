import { type ESTree, parseSync, Visitor } from 'vite'
import type { SourceFile } from './rules.ts'

/** Calls whose argument at the given index is the text of an error. */
type Sinks = ReadonlyMap<string, number>

const SINKS: Sinks = new Map([
  ['AppError', 1],
  ['badRequest', 0],
  // Why a value does not fit its field, and why a field is broken.
  ['readFail', 0],
  ['broken', 0],
])
/** Properties that hold such a text: of zod's schemas, of its issues, and of problems that are listed for people. */
const PROPERTIES = new Set(['error', 'message'])
/** Methods of zod schemas whose last argument can be the text of the refusal. */
const ZOD_CHECKS = new Set(['refine', 'regex', 'min', 'max', 'length'])
/** Two words: neither a code such as `BAD_REQUEST` nor a single name. */
const SENTENCE = /\p{L}\S* \S*\p{L}/u

/** Adapters that answer with the exact texts of the REST API's contract. */
const isWireAdapter = (path: string): boolean => /^(src\/wire|modules\/\w+\/rest)\//.test(path)

/**
 * Errors of the server whose text is written in the code instead of `messages/en.json`. Follows constants and functions
 * of the same file, and functions that only pass a text on to an error.
 *
 * @param exempt texts that may be written in the code, by path
 * @returns `path: text` per breach
 */
export function findLiteralErrorTexts(
  sources: readonly SourceFile[],
  exempt: Readonly<Record<string, readonly string[]>> = {},
): string[] {
  const files = sources
    .filter(({ path }) => /^(src|modules)\/.*\.ts$/.test(path) && !isWireAdapter(path))
    .map(({ path, text }) => ({ path, ...readDeclarations(parseSync(path, text).program) }))
  const shared = new Map(SINKS)
  for (const { functions } of files)
    for (const [name, declared] of functions) {
      const index = declared.isExported ? passedOnParameter(declared.node, SINKS) : -1
      if (index >= 0) shared.set(name, index)
    }
  return files.flatMap((file) => {
    const sinks = new Map(shared)
    for (const [name, { node }] of file.functions) {
      const index = passedOnParameter(node, shared)
      if (index >= 0) sinks.set(name, index)
    }
    const texts = findErrorArguments(file.program, sinks).flatMap((argument) => literalTexts(argument, file))
    const allowed = exempt[file.path] ?? []
    return [...new Set(texts)]
      .filter((text) => !allowed.includes(text))
      .map((text) => `${file.path}: ${text}`)
  })
}

type Functional = ESTree.Function | ESTree.ArrowFunctionExpression

interface Declarations {
  program: ESTree.Program
  functions: Map<string, { node: Functional; isExported: boolean }>
  constants: Map<string, ESTree.Expression>
}

function readDeclarations(program: ESTree.Program): Declarations {
  const functions: Declarations['functions'] = new Map()
  const constants: Declarations['constants'] = new Map()
  const exported = new Set<ESTree.Node>()
  new Visitor({
    ExportNamedDeclaration({ declaration }) {
      if (declaration?.type === 'VariableDeclaration')
        for (const declarator of declaration.declarations) exported.add(declarator)
      else if (declaration) exported.add(declaration)
    },
    FunctionDeclaration(node) {
      if (node.id) functions.set(node.id.name, { node, isExported: exported.has(node) })
    },
    VariableDeclarator(node) {
      if (node.id.type !== 'Identifier' || !node.init) return
      const { name } = node.id
      if (node.init.type === 'ArrowFunctionExpression')
        functions.set(name, { node: node.init, isExported: exported.has(node) })
      else constants.set(name, node.init)
    },
  }).visit(program)
  return { program, functions, constants }
}

/** The index of the parameter that a function passes on as the text of an error; -1 where it passes none. */
function passedOnParameter(node: Functional, sinks: Sinks): number {
  if (!node.body) return -1
  const passed = findErrorArguments(node.body, sinks)
  return node.params.findIndex(
    (parameter) =>
      parameter.type === 'Identifier' &&
      passed.some((argument) => argument.type === 'Identifier' && argument.name === parameter.name),
  )
}

/** Every expression below a node that becomes the text of an error. */
function findErrorArguments(node: ESTree.Node, sinks: Sinks): ESTree.Node[] {
  const found: ESTree.Node[] = []
  const addArgument = ({ callee, arguments: given }: ESTree.CallExpression | ESTree.NewExpression) => {
    if (callee.type === 'Identifier') {
      const argument = given[sinks.get(callee.name) ?? -1]
      if (argument) found.push(argument)
    } else if (callee.type === 'MemberExpression' && callee.property.type === 'Identifier') {
      const last = given.at(-1)
      if (ZOD_CHECKS.has(callee.property.name) && last?.type === 'Literal') found.push(last)
    }
  }
  const visitor = new Visitor({
    CallExpression: addArgument,
    NewExpression: addArgument,
    Property({ key, value }) {
      if (key.type === 'Identifier' && PROPERTIES.has(key.name)) found.push(value)
    },
  })
  visitor.visit(node.type === 'Program' ? node : programOf(node))
  return found
}

/** The sentences that an expression can evaluate to, inputs written as `…`. */
function literalTexts(
  node: ESTree.Node | null | undefined,
  file: Declarations,
  seen = new Set<ESTree.Node>(),
): string[] {
  if (!node || seen.has(node)) return []
  seen.add(node)
  const all = (nodes: readonly (ESTree.Node | null | undefined)[]) =>
    nodes.flatMap((each) => literalTexts(each, file, seen))
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' && SENTENCE.test(node.value) ? [node.value] : []
    case 'TemplateLiteral': {
      const text = node.quasis.map(({ value }) => value.cooked ?? value.raw).join('…')
      return SENTENCE.test(text) ? [text] : []
    }
    case 'ConditionalExpression':
      return all([node.consequent, node.alternate])
    case 'LogicalExpression':
    case 'BinaryExpression':
      return all([node.left, node.right])
    case 'Identifier':
      return all([file.constants.get(node.name)])
    case 'CallExpression': {
      const called =
        node.callee.type === 'Identifier' ? file.functions.get(node.callee.name)?.node : undefined
      return called ? all(returnedExpressions(called)) : []
    }
    case 'ArrowFunctionExpression':
      return all(returnedExpressions(node))
    default:
      return []
  }
}

function returnedExpressions(node: Functional): ESTree.Node[] {
  if (!node.body) return []
  if (node.body.type !== 'BlockStatement') return [node.body]
  const returned: ESTree.Node[] = []
  new Visitor({
    ReturnStatement({ argument }) {
      if (argument) returned.push(argument)
    },
  }).visit(programOf(node.body))
  return returned
}

/** A program of one node: visitors start at a program. */
const programOf = (node: ESTree.Node): ESTree.Program =>
  ({
    type: 'Program',
    body: [node],
    sourceType: 'module',
    hashbang: null,
    start: 0,
    end: 0,
  }) as unknown as ESTree.Program
