import { m } from '../messages.gen.ts'

/*
 * A strict, logic-less subset of Handlebars for the texts of webhooks: values by path, the helper `json`, and the blocks
 * `#each`, `#if` and `#unless`. A template is parsed once. It reads own properties of JSON only, calls nothing, and the
 * time and length of its output are limited.
 *
 * Each value is escaped for the place where it stands, so that it cannot change the structure around it.
 */

/**
 * What a template is the text of. `json`: values in quotes become the content of a JSON string, others JSON values.
 * `url`: percent-encoded. `header`: without control characters, as UTF-8. `markup`: XML or HTML. `text`: as they are.
 */
export type TemplateKind = 'json' | 'url' | 'header' | 'urlencoded' | 'markup' | 'text'

/** Length of a template, in characters. */
export const MAX_TEMPLATE_LENGTH = 50_000
/** Length of the output, in characters. */
export const MAX_OUTPUT_LENGTH = 2_000_000
/** Nested blocks. */
const MAX_BLOCKS = 5
/** Values and blocks that are evaluated in one rendering. */
const MAX_STEPS = 200_000
const MAX_PATH_LENGTH = 500

/** Why a template does not parse. */
export interface TemplateProblem {
  /** Of the first character concerned, from 1. */
  position: number
  message: string
}

/** A parsed template. */
export interface Template {
  kind: TemplateKind
  nodes: Node[]
}

type Node = string | ValueNode | BlockNode

interface ValueNode {
  path: Path
  /** The helper `json`: as JSON, whatever the type. */
  isJson: boolean
  /** In a JSON template: between the quotes of a string. */
  isQuoted: boolean
}

interface BlockNode {
  block: 'each' | 'if' | 'unless'
  path: Path
  body: Node[]
  otherwise: Node[]
}

interface Path {
  /** Levels of `../`. */
  up: number
  /** `@index`, `@first` or `@last` of the innermost list. */
  position: 'index' | 'first' | 'last' | null
  keys: string[]
}

/** The start and content of `{{…}}`. */
interface Tag {
  at: number
  content: string
}

class ParseError extends Error {
  constructor(
    readonly at: number,
    message: string,
  ) {
    super(message)
  }
}

/** Parses a template; a problem if it is invalid. */
export function parseTemplate(text: string, kind: TemplateKind): Template | TemplateProblem {
  try {
    if (text.length > MAX_TEMPLATE_LENGTH) {
      throw new ParseError(MAX_TEMPLATE_LENGTH, m.template_error_too_long({ max: MAX_TEMPLATE_LENGTH }))
    }
    const nodes = parseNodes(tokenize(text))
    if (kind === 'json') checkQuotes(nodes)
    if (kind === 'url') checkHost(nodes)
    return { kind, nodes }
  } catch (error) {
    if (error instanceof ParseError) return { position: error.at + 1, message: error.message }
    throw error
  }
}

export const isProblem = (parsed: Template | TemplateProblem): parsed is TemplateProblem =>
  'position' in parsed

/**
 * True if a text is meant to be JSON: it starts with an object, a list or a string, or is a single `{{ json … }}`. An
 * invalid template is not.
 */
export function looksLikeJson(text: string): boolean {
  const parsed = parseTemplate(text, 'text')
  return !isProblem(parsed) && startsAsJson(parsed.nodes)
}

function startsAsJson(nodes: readonly Node[]): boolean {
  const shown = nodes.filter((node) => typeof node !== 'string' || node.trim() !== '')
  const [first] = shown
  if (first === undefined) return false
  if (typeof first === 'string') return /^\s*["[{]/.test(first)
  if ('block' in first) return startsAsJson(first.body)
  return first.isJson && shown.length === 1
}

function tokenize(text: string): (string | Tag)[] {
  const tokens: (string | Tag)[] = []
  let at = 0
  for (;;) {
    const start = text.indexOf('{{', at)
    if (start < 0) break
    if (start > at) tokens.push(text.slice(at, start))
    const isComment = text.startsWith('{{!--', start)
    // `{{{ value }}}` is the form without escaping; here it means the same as `{{ value }}`.
    const isTriple = !isComment && text.startsWith('{{{', start) && text[start + 3] !== '{'
    const [open, close] = isComment ? ['{{!--', '--}}'] : isTriple ? ['{{{', '}}}'] : ['{{', '}}']
    const end = text.indexOf(close, start + open.length)
    if (end < 0) throw new ParseError(start, m.template_error_not_closed({ tag: excerpt(text.slice(start)) }))
    const content = text.slice(start + open.length, end).trim()
    if (!isComment && !content.startsWith('!')) tokens.push({ at: start, content })
    at = end + close.length
  }
  if (at < text.length) tokens.push(text.slice(at))
  return tokens
}

const excerpt = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text)

function parseNodes(tokens: readonly (string | Tag)[]): Node[] {
  const root: Node[] = []
  const open: { node: BlockNode; at: number; into: Node[] }[] = []
  for (const token of tokens) {
    const into = open.at(-1)?.into ?? root
    if (typeof token === 'string') {
      into.push(token)
      continue
    }
    const { at, content } = token
    if (content.startsWith('#')) {
      if (open.length === MAX_BLOCKS) throw new ParseError(at, m.template_error_too_deep({ max: MAX_BLOCKS }))
      const [name = '', ...rest] = words(content.slice(1))
      if (name !== 'each' && name !== 'if' && name !== 'unless') {
        throw new ParseError(at, m.template_error_unknown({ name: excerpt(`#${name}`) }))
      }
      const node: BlockNode = { block: name, path: parsePath(rest, token), body: [], otherwise: [] }
      into.push(node)
      open.push({ node, at, into: node.body })
    } else if (content.startsWith('/')) {
      const last = open.pop()
      const name = content.slice(1).trim()
      if (last?.node.block !== name) throw new ParseError(at, m.template_error_end({ tag: excerpt(content) }))
    } else if (content === 'else' || content === '^') {
      const last = open.at(-1)
      if (!last || last.into === last.node.otherwise) {
        throw new ParseError(at, m.template_error_end({ tag: content }))
      }
      last.into = last.node.otherwise
    } else {
      into.push(parseValue(token))
    }
  }
  const unclosed = open.at(-1)
  if (unclosed) {
    throw new ParseError(unclosed.at, m.template_error_not_closed({ tag: `{{#${unclosed.node.block}}}` }))
  }
  return root
}

/** Splits at spaces outside brackets. */
function words(text: string): string[] {
  const found: string[] = []
  let word = ''
  let isBracketed = false
  for (const character of text) {
    if (character === '[') isBracketed = true
    else if (character === ']') isBracketed = false
    if (isBracketed || !/\s/.test(character)) word += character
    else if (word !== '') {
      found.push(word)
      word = ''
    }
  }
  return word === '' ? found : [...found, word]
}

function parseValue(tag: Tag): ValueNode {
  const content = tag.content.startsWith('&') ? tag.content.slice(1) : tag.content
  const [name = '', ...rest] = words(content)
  const isJson = name === 'json' && rest.length > 0
  if (rest.length > 0 && !isJson) {
    throw new ParseError(tag.at, m.template_error_unknown({ name: excerpt(name) }))
  }
  return { path: parsePath(isJson ? rest : [name], tag), isJson, isQuoted: false }
}

function parsePath(found: readonly string[], { at }: Tag): Path {
  const [text = ''] = found
  const invalid = () => new ParseError(at, m.template_error_path({ path: excerpt(found.join(' ')) }))
  if (found.length !== 1 || text.length > MAX_PATH_LENGTH) throw invalid()
  if (text === '@index' || text === '@first' || text === '@last') {
    return { up: 0, position: text.slice(1) as Path['position'], keys: [] }
  }
  let rest = text
  let up = 0
  for (; rest.startsWith('../'); up++) rest = rest.slice(3)
  if (up > MAX_BLOCKS) throw invalid()
  if (rest === '..') return { up: up + 1, position: null, keys: [] }
  if (rest === 'this' || rest === '.') return { up, position: null, keys: [] }
  if (rest.startsWith('this.') || rest.startsWith('this/')) rest = rest.slice(5)
  else if (rest.startsWith('./')) rest = rest.slice(2)
  const keys = splitKeys(rest)
  if (keys === null) throw invalid()
  return { up, position: null, keys }
}

/** The keys of `rows.[0].[First name].id`, or null if it is no path. */
function splitKeys(text: string): string[] | null {
  const keys: string[] = []
  let at = 0
  while (at < text.length) {
    if (text[at] === '[') {
      const end = text.indexOf(']', at)
      if (end < 0) return null
      keys.push(text.slice(at + 1, end))
      at = end + 1
    } else {
      let end = at
      while (end < text.length && !'.[/'.includes(text[end] ?? '')) end++
      const key = text.slice(at, end)
      if (key === '' || /[\s!"#%&'()*+,;<=>@\\\]^`{|}~]/.test(key)) return null
      keys.push(key)
      at = end
    }
    if (at === text.length) return keys
    // `rows[0]` is accepted like `rows.[0]`.
    if (text[at] === '.' || text[at] === '/') at++
    else if (text[at] !== '[') return null
  }
  // Empty, or ending with a dot.
  return null
}

/** Marks the values that stand between the quotes of a JSON string. */
function checkQuotes(nodes: Node[]): void {
  if (markQuoted(nodes, false)) throw new ParseError(0, m.template_error_quotes())
}

/** @returns whether the text after the nodes is in a string */
function markQuoted(nodes: Node[], wasQuoted: boolean): boolean {
  let isQuoted = wasQuoted
  for (const node of nodes) {
    if (typeof node === 'string') {
      for (let at = 0; at < node.length; at++) {
        if (isQuoted && node[at] === '\\') at++
        else if (node[at] === '"') isQuoted = !isQuoted
      }
    } else if ('block' in node) {
      // A block may be left out or repeated: it must end as it began.
      const ends = [markQuoted(node.body, isQuoted), markQuoted(node.otherwise, isQuoted)]
      if (ends.some((end) => end !== isQuoted)) throw new ParseError(0, m.template_error_quotes())
    } else {
      node.isQuoted = isQuoted
    }
  }
  return isQuoted
}

/** A value in front of the path would decide where secret headers go. */
function checkHost(nodes: readonly Node[]): void {
  if (nodes.every((node) => typeof node === 'string')) return
  const [first] = nodes
  const isFixed = typeof first === 'string' && /^\s*https?:\/\/[^/?#]+[/?#]/i.test(first)
  if (!isFixed) {
    const at = typeof first === 'string' ? first.length : 0
    throw new ParseError(at, m.template_error_host())
  }
}

/** The innermost value that paths start at, and those around it. */
interface Scope {
  value: unknown
  parent: Scope | null
  index: number
  length: number
}

/** Why a template could not be rendered. */
export class RenderError extends Error {
  override readonly name = 'RenderError'
}

/**
 * Renders a template with data, which must be JSON.
 *
 * @throws RenderError if the output becomes too long
 */
export function renderTemplate({ kind, nodes }: Template, data: unknown): string {
  const output: string[] = []
  let length = 0
  let steps = 0

  function write(text: string): void {
    length += text.length
    if (length > MAX_OUTPUT_LENGTH) throw new RenderError(m.template_error_output())
    output.push(text)
  }

  function run(list: readonly Node[], scope: Scope): void {
    for (const node of list) {
      if (++steps > MAX_STEPS) throw new RenderError(m.template_error_output())
      if (typeof node === 'string') write(node)
      else if ('block' in node) runBlock(node, scope)
      else write(escapeValue(kind, node, resolve(node.path, scope)))
    }
  }

  function runBlock({ block, path, body, otherwise }: BlockNode, scope: Scope): void {
    const value = resolve(path, scope)
    if (block !== 'each') {
      run(isFilled(value) === (block === 'if') ? body : otherwise, scope)
      return
    }
    const items = Array.isArray(value) ? value : []
    if (items.length === 0) run(otherwise, scope)
    for (const [index, item] of items.entries()) {
      run(body, { value: item, parent: scope, index, length: items.length })
    }
  }

  run(nodes, { value: data, parent: null, index: 0, length: 1 })
  return output.join('')
}

/** As in Handlebars, except that an empty object is filled there, too. */
const isFilled = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value))

function resolve({ up, position, keys }: Path, scope: Scope): unknown {
  if (position === 'index') return scope.index
  if (position === 'first') return scope.index === 0
  if (position === 'last') return scope.index === scope.length - 1
  let from: Scope | null = scope
  for (let level = 0; level < up && from; level++) from = from.parent
  if (!from) return undefined
  const found = read(from.value, keys)
  if (found !== undefined || up > 0) return found
  // Inside a list, `event` still means the event.
  const root = outermost(scope)
  return root === scope ? undefined : read(root.value, keys)
}

function outermost(scope: Scope): Scope {
  let outer = scope
  while (outer.parent) outer = outer.parent
  return outer
}

function read(from: unknown, keys: readonly string[]): unknown {
  let value = from
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

const asJson = (value: unknown): string => JSON.stringify(value ?? null)

function asText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? asJson(value) : String(value)
}

function escapeValue(kind: TemplateKind, { isJson, isQuoted }: ValueNode, value: unknown): string {
  const text = isJson ? asJson(value) : asText(value)
  switch (kind) {
    case 'json':
      // Without its quotes, a JSON string is the content of one.
      return isQuoted ? JSON.stringify(text).slice(1, -1) : asJson(value)
    case 'url':
      // URLs resolve segments of one or two dots, encoded or not.
      return /^\.+$/.test(text) ? '' : encodeURIComponent(text.toWellFormed())
    case 'urlencoded':
      return encodeURIComponent(text.toWellFormed())
    case 'header':
      return text.replace(/[^\P{Cc}\t]+/gu, ' ')
    case 'markup':
      return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
    case 'text':
      return text
  }
}
