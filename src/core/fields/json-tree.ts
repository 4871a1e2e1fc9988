import { isJson } from '../json-text.ts'
/**
 * JSON as a tree that preserves numbers and text exactly. `JSON.parse` would round 12345678901234567890 and
 * merge duplicate keys.
 */
export type JsonNode =
  | { kind: 'object'; entries: JsonEntry[] }
  | { kind: 'array'; items: JsonNode[] }
  /** A string, number, true, false or null, as written. */
  | { kind: 'scalar'; raw: string }

export interface JsonEntry {
  key: string
  node: JsonNode
}

/** Parses JSON text; null if it is invalid. */
export function parseJsonTree(text: string): JsonNode | null {
  if (!isJson(text)) return null
  // The text parses, so the reader below needs no error handling.
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g) ?? []
  let at = 0
  const readNode = (): JsonNode => {
    const token = tokens[at++] ?? 'null'
    if (token === '{') return readObject()
    if (token === '[') return readArray()
    return { kind: 'scalar', raw: token }
  }
  function readObject(): JsonNode {
    const entries: JsonEntry[] = []
    while (tokens[at] !== '}') {
      if (tokens[at] === ',') at++
      const key = JSON.parse(tokens[at] ?? '""') as string
      at += 2
      entries.push({ key, node: readNode() })
    }
    at++
    return { kind: 'object', entries }
  }
  function readArray(): JsonNode {
    const items: JsonNode[] = []
    while (tokens[at] !== ']') {
      if (tokens[at] === ',') at++
      items.push(readNode())
    }
    at++
    return { kind: 'array', items }
  }
  return readNode()
}

/** Serializes a tree with two spaces per level; with `indent` null on one line. */
export function writeJsonTree(node: JsonNode, indent: string | null = ''): string {
  if (node.kind === 'scalar') return node.raw
  const inner = indent === null ? null : `${indent}  `
  const colon = indent === null ? ':' : ': '
  const parts =
    node.kind === 'array'
      ? node.items.map((item) => writeJsonTree(item, inner))
      : node.entries.map((entry) => JSON.stringify(entry.key) + colon + writeJsonTree(entry.node, inner))
  const [open, close] = node.kind === 'array' ? ['[', ']'] : ['{', '}']
  if (parts.length === 0) return `${open}${close}`
  if (inner === null) return `${open}${parts.join(',')}${close}`
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${indent}${close}`
}

/** Pretty-prints JSON text; null if it is invalid. */
export function formatJson(text: string): string | null {
  const node = parseJsonTree(text)
  return node && writeJsonTree(node)
}

/** Parses text entered for a scalar: as JSON if valid, else as a string, so that quotes are optional. */
export const scalarOf = (typed: string): JsonNode =>
  parseJsonTree(typed) ?? { kind: 'scalar', raw: JSON.stringify(typed) }

/** The editable text of a scalar: a string without quotes, unless it would be parsed differently. */
export function typedOf(raw: string): string {
  if (!raw.startsWith('"')) return raw
  const text = JSON.parse(raw) as string
  return isJson(text) || text !== text.trim() || text === '' ? raw : text
}
