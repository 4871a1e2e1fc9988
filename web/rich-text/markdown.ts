/** A piece of a line of rich text. */
export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'break' }
  | { kind: 'bold' | 'italic' | 'underline' | 'strike'; children: Inline[] }
  | { kind: 'link'; href: string; children: Inline[] }

/** An item of a list; `isDone` is null where it is no box to tick. */
export interface ListItem {
  isDone: boolean | null
  children: Inline[]
}

/** A part of a rich text that stands on lines of its own. */
export type Block =
  | { kind: 'paragraph'; children: Inline[] }
  | { kind: 'quote'; children: Inline[] }
  | { kind: 'heading'; level: 1 | 2 | 3; children: Inline[] }
  | { kind: 'list'; isOrdered: boolean; items: ListItem[] }

/** The signs around a style of letters. `++` is for underlined, which markdown has no sign for. */
export const MARKS = {
  bold: '**',
  italic: '*',
  underline: '++',
  strike: '~~',
  code: '`',
} as const

const HEADING = /^(#{1,3})\s(.*)$/s
const QUOTE = /^>\s?(.*)$/
const ITEM = /^\s*(?:[-*+]|(\d{1,9})[.)])\s(.*)$/s
const BOX = /^\[([ xX])\]\s(.*)$/s
const BARE_LINK = /^https?:\/\/[^\s<>()[\]]+[^\s<>()[\].,;:!?'"]/
const LINK = /^\[([^\]\n]{1,1000})\]\(([^()\s]{1,2083})\)/
/** Styles within styles; deeper is text. */
const MAX_DEPTH = 6

/**
 * Reads the part of markdown that rich texts know: headings, quotes, lists, boxes to tick, links and styles of
 * letters. Whatever else stands there, HTML above all, is text.
 */
export function parseMarkdown(text: string): Block[] {
  const blocks: Block[] = []
  let lines: string[] = []
  const endParagraph = () => {
    if (lines.length > 0) blocks.push({ kind: 'paragraph', children: parseLines(lines) })
    lines = []
  }
  for (const line of text.replace(/\r\n?/g, '\n').split('\n')) {
    const block = readBlock(line)
    if (line.trim() === '' || block) endParagraph()
    if (block) append(blocks, block)
    else if (line.trim() !== '') lines.push(line)
  }
  endParagraph()
  return blocks
}

/** A rich text without its signs, e.g. for the title of a page. */
export function plainText(markdown: string): string {
  const textOf = (inline: Inline): string => {
    if (inline.kind === 'break') return ' '
    return 'text' in inline ? inline.text : inline.children.map(textOf).join('')
  }
  return parseMarkdown(markdown)
    .flatMap((block) =>
      block.kind === 'list' ? block.items.map(({ children }) => children) : [block.children],
    )
    .map((children) => children.map(textOf).join(''))
    .join(' ')
}

function readBlock(line: string): Block | null {
  const heading = HEADING.exec(line)
  if (heading) {
    const level = (heading[1] ?? '#').length as 1 | 2 | 3
    return { kind: 'heading', level, children: parseInline((heading[2] ?? '').trimStart()) }
  }
  const quote = QUOTE.exec(line)
  if (quote) return { kind: 'quote', children: parseInline(quote[1] ?? '') }
  const item = ITEM.exec(line)
  if (!item) return null
  const [, number, rest = ''] = item
  const [, box, words = rest] = BOX.exec(rest.trimStart()) ?? []
  const isDone = box === undefined ? null : box !== ' '
  const items = [{ isDone, children: parseInline(words.trimStart()) }]
  return { kind: 'list', isOrdered: number !== undefined, items }
}

/** Lines of one list, or of one quote, are one block. */
function append(blocks: Block[], block: Block): void {
  const last = blocks.at(-1)
  if (last?.kind === 'list' && block.kind === 'list' && last.isOrdered === block.isOrdered) {
    last.items.push(...block.items)
  } else if (last?.kind === 'quote' && block.kind === 'quote') {
    last.children.push({ kind: 'break' }, ...block.children)
  } else blocks.push(block)
}

const parseLines = (lines: string[]): Inline[] =>
  lines.flatMap((line, at) => [...(at > 0 ? [{ kind: 'break' } as const] : []), ...parseInline(line)])

function parseInline(text: string, depth = 0): Inline[] {
  const parts: Inline[] = []
  let plain = ''
  const push = (part: Inline) => {
    if (plain !== '') parts.push({ kind: 'text', text: plain })
    plain = ''
    parts.push(part)
  }
  for (let at = 0; at < text.length; ) {
    const found = depth < MAX_DEPTH ? readStyled(text, at, depth) : null
    if (found) push(found.part)
    else if (text[at] === '\\' && /[\\*_~+`[\]#>-]/.test(text[at + 1] ?? '')) plain += text[++at]
    else plain += text[at]
    at = found ? found.end : at + 1
  }
  if (plain !== '') parts.push({ kind: 'text', text: plain })
  return parts
}

interface Found {
  part: Inline
  end: number
}

function readStyled(text: string, at: number, depth: number): Found | null {
  const sign = text[at] ?? ''
  if (sign === '[') return readLink(text, at, depth)
  if (sign === 'h' && !/\w/.test(text[at - 1] ?? '')) return readBareLink(text, at)
  if (sign === '`') {
    const end = text.indexOf('`', at + 1)
    return end > at + 1 ? { part: { kind: 'code', text: text.slice(at + 1, end) }, end: end + 1 } : null
  }
  const kinds = { '**': 'bold', '++': 'underline', '~~': 'strike' } as const
  const pair = text.slice(at, at + 2)
  if (pair === '**' || pair === '++' || pair === '~~') return readPair(text, at, pair, kinds[pair], depth)
  if (sign === '*') return readPair(text, at, '*', 'italic', depth)
  // Within a word it is part of a name: snake_case.
  return sign === '_' && !/\w/.test(text[at - 1] ?? '') ? readPair(text, at, '_', 'italic', depth) : null
}

function readPair(
  text: string,
  at: number,
  sign: string,
  kind: 'bold' | 'italic' | 'underline' | 'strike',
  depth: number,
): Found | null {
  const from = at + sign.length
  if (/^(\s|$)/.test(text.slice(from, from + 1))) return null
  for (let end = text.indexOf(sign, from); end > from; end = text.indexOf(sign, end + 1)) {
    // One star within two belongs to the bold inside.
    const isDouble = sign === '*' && (text[end + 1] === '*' || text[end - 1] === '*')
    if (isDouble || /\s/.test(text[end - 1] ?? '')) continue
    const children = parseInline(text.slice(from, end), depth + 1)
    return { part: { kind, children }, end: end + sign.length }
  }
  return null
}

function readLink(text: string, at: number, depth: number): Found | null {
  const [whole, words = '', address = ''] = LINK.exec(text.slice(at, at + 3200)) ?? []
  const href = whole === undefined ? null : safeAddress(address)
  if (whole === undefined || href === null) return null
  return { part: { kind: 'link', href, children: parseInline(words, depth + 1) }, end: at + whole.length }
}

function readBareLink(text: string, at: number): Found | null {
  const [address] = BARE_LINK.exec(text.slice(at, at + 2083)) ?? []
  if (address === undefined || safeAddress(address) === null) return null
  const children: Inline[] = [{ kind: 'text', text: address }]
  return { part: { kind: 'link', href: address, children }, end: at + address.length }
}

/** An address that a press may open: of the web, of mail, of a telephone. Never one that runs code. */
export function safeAddress(address: string): string | null {
  return /^(?:https?:\/\/|mailto:|tel:)[^\s]+$/i.test(address) ? address : null
}
