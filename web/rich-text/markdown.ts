/** A run of text or a style around one. */
export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'break' }
  | { kind: Style; children: Inline[] }
  | { kind: 'link'; href: string; children: Inline[] }

export type Style = keyof typeof DELIMITERS

/** A list item; `isDone` is set in a checklist only. */
export interface ListItem {
  isDone: boolean | null
  children: Inline[]
}

/** A block of rich text; `line` is the index of its first line in the source. */
export type Block = { line: number } & (
  | { kind: 'paragraph'; children: Inline[] }
  | { kind: 'quote'; children: Inline[] }
  | { kind: 'heading'; level: 1 | 2 | 3; children: Inline[] }
  | { kind: 'list'; marker: 'bullet' | 'number' | 'check'; items: ListItem[] }
)

/** Delimiters of the inline styles. Markdown has none for underline; `++` is a common extension. */
export const DELIMITERS = { bold: '**', italic: '*', underline: '++', strike: '~~' } as const

const HEADING = /^(#{1,3})\s(.*)$/s
const QUOTE = /^>\s?(.*)$/
const ITEM = /^\s*(?:[-*+]|(\d{1,9})[.)])\s(.*)$/s
const CHECKBOX = /^\[([ xX])\]\s(.*)$/s
const BARE_LINK = /^https?:\/\/[^\s<>()[\]]+[^\s<>()[\].,;:!?'"]/
const LINK = /^\[((?:\\.|[^\]\\\n]){1,1000})\]\(([^()\s]{1,2083})\)/
/** A backslash escapes these; `.` and `)` after a list number, `:` in an address. */
const ESCAPABLE = /^(?:[\\*_~+`[\]#>-]|[.)]\s|:\/\/)/
/** Deeper nesting of styles is read as text. */
const MAX_DEPTH = 6

/**
 * Reads the Markdown subset of rich texts: headings, quotes, lists, checklists, links and inline styles. All other
 * syntax stays text, HTML above all. Display and editor share this parser, so both show the same.
 */
export function parseMarkdown(text: string): Block[] {
  const blocks: Block[] = []
  let paragraph: Extract<Block, { kind: 'paragraph' }> | null = null
  let isAfterBlank = true
  for (const [line, source] of text.split(/\r\n?|\n/).entries()) {
    const isBlank = source.trim() === ''
    const block = isBlank ? null : readBlock(source, line)
    const last = blocks.at(-1)
    if (isBlank) paragraph = null
    else if (block) {
      append(blocks, block)
      paragraph = null
    } else if (paragraph) paragraph.children.push({ kind: 'break' }, ...parseInline(source))
    else if (last?.kind === 'list' && !isAfterBlank && source.startsWith('  ')) {
      last.items.at(-1)?.children.push({ kind: 'break' }, ...parseInline(source.trimStart()))
    } else {
      paragraph = { kind: 'paragraph', line, children: parseInline(source) }
      blocks.push(paragraph)
    }
    isAfterBlank = isBlank
  }
  return blocks
}

/** The text without its syntax, e.g. for the title of a page. */
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

function readBlock(source: string, line: number): Block | null {
  const heading = HEADING.exec(source)
  if (heading) {
    const level = (heading[1] ?? '#').length as 1 | 2 | 3
    return { kind: 'heading', line, level, children: parseInline((heading[2] ?? '').trimStart()) }
  }
  const quote = QUOTE.exec(source)
  if (quote) return { kind: 'quote', line, children: parseInline(quote[1] ?? '') }
  const item = ITEM.exec(source)
  if (!item) return null
  const [, number, rest = ''] = item
  const [, box, content = rest] = CHECKBOX.exec(rest.trimStart()) ?? []
  const items = [
    { isDone: box === undefined ? null : box !== ' ', children: parseInline(content.trimStart()) },
  ]
  const unchecked = number === undefined ? 'bullet' : 'number'
  return { kind: 'list', line, marker: box === undefined ? unchecked : 'check', items }
}

/** Adds a block; consecutive items of one list, or lines of one quote, join the block before. */
function append(blocks: Block[], block: Block): void {
  const last = blocks.at(-1)
  if (last?.kind === 'list' && block.kind === 'list' && last.marker === block.marker) {
    last.items.push(...block.items)
  } else if (last?.kind === 'quote' && block.kind === 'quote') {
    last.children.push({ kind: 'break' }, ...block.children)
  } else blocks.push(block)
}

function parseInline(text: string, depth = 0): Inline[] {
  const inlines: Inline[] = []
  let plain = ''
  const flush = () => {
    if (plain !== '') inlines.push({ kind: 'text', text: plain })
    plain = ''
  }
  for (let at = 0; at < text.length; ) {
    const found = depth < MAX_DEPTH ? readStyled(text, at, depth) : null
    if (found) {
      flush()
      inlines.push(found.inline)
    } else if (text[at] === '\\' && ESCAPABLE.test(text.slice(at + 1, at + 4))) plain += text[++at]
    else plain += text[at]
    at = found ? found.end : at + 1
  }
  flush()
  return inlines
}

interface Found {
  inline: Inline
  end: number
}

function readStyled(text: string, at: number, depth: number): Found | null {
  const sign = text[at] ?? ''
  if (sign === '[') return readLink(text, at, depth)
  if (sign === 'h' && !/\w/.test(text[at - 1] ?? '')) return readBareLink(text, at)
  if (sign === '`') {
    const end = text.indexOf('`', at + 1)
    return end > at + 1 ? { inline: { kind: 'code', text: text.slice(at + 1, end) }, end: end + 1 } : null
  }
  const kinds = { '**': 'bold', '++': 'underline', '~~': 'strike' } as const
  const pair = text.slice(at, at + 2)
  if (pair === '**' || pair === '++' || pair === '~~') return readPair(text, at, pair, kinds[pair], depth)
  if (sign === '*') return readPair(text, at, '*', 'italic', depth)
  // Within a word an underscore is part of a name: snake_case.
  return sign === '_' && !/\w/.test(text[at - 1] ?? '') ? readPair(text, at, '_', 'italic', depth) : null
}

function readPair(text: string, at: number, sign: string, kind: Style, depth: number): Found | null {
  const from = at + sign.length
  if (/^(\s|$)/.test(text.slice(from, from + 1))) return null
  for (let end = text.indexOf(sign, from); end > from; end = text.indexOf(sign, end + 1)) {
    // One star beside another belongs to the bold text inside.
    const isDouble = sign === '*' && (text[end + 1] === '*' || text[end - 1] === '*')
    if (isDouble || /[\s\\]/.test(text[end - 1] ?? '')) continue
    const children = parseInline(text.slice(from, end), depth + 1)
    return { inline: { kind, children }, end: end + sign.length }
  }
  return null
}

function readLink(text: string, at: number, depth: number): Found | null {
  const [source, label = '', address = ''] = LINK.exec(text.slice(at, at + 3200)) ?? []
  const href = source === undefined ? null : safeAddress(address)
  if (source === undefined || href === null) return null
  return { inline: { kind: 'link', href, children: parseInline(label, depth + 1) }, end: at + source.length }
}

function readBareLink(text: string, at: number): Found | null {
  const [address] = BARE_LINK.exec(text.slice(at, at + 2083)) ?? []
  if (address === undefined || safeAddress(address) === null) return null
  const children: Inline[] = [{ kind: 'text', text: address }]
  return { inline: { kind: 'link', href: address, children }, end: at + address.length }
}

/** The address if a link may open it (http, https, mailto, tel), null otherwise, above all for `javascript:`. */
export function safeAddress(address: string): string | null {
  return /^(?:https?:\/\/|mailto:|tel:)[^\s]+$/i.test(address) ? address : null
}
