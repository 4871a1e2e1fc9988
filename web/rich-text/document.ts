import { type Extensions, getSchema, type JSONContent } from '@tiptap/core'
import { Blockquote } from '@tiptap/extension-blockquote'
import { Code } from '@tiptap/extension-code'
import { ListItem, OrderedList, TaskItem, TaskList } from '@tiptap/extension-list'
import { CharacterCount, Placeholder } from '@tiptap/extensions'
import type { Mark, Node } from '@tiptap/pm/model'
import { StarterKit } from '@tiptap/starter-kit'
import { m } from '../messages.gen.ts'
import { type Block, DELIMITERS, type Inline, parseMarkdown, safeAddress } from './markdown.ts'

/** The editor's schema holds exactly what `parseMarkdown` reads: lists are flat, quotes and items are lines of text. */
export const richTextExtensions = (placeholder = '', maxLength?: number): Extensions => [
  StarterKit.configure({
    blockquote: false,
    code: false,
    codeBlock: false,
    horizontalRule: false,
    listItem: false,
    orderedList: false,
    trailingNode: false,
    heading: { levels: [1, 2, 3] },
    link: {
      openOnClick: false,
      defaultProtocol: 'https',
      isAllowedUri: (address) => safeAddress(address) !== null,
      shouldAutoLink: (address) => /^https?:/i.test(address),
    },
  }),
  Blockquote.extend({ content: 'paragraph+' }),
  // The default excludes other styles beside code; Markdown allows them around it.
  Code.extend({ excludes: '' }),
  ListItem.extend({ content: 'paragraph' }),
  // Numbers always start at 1.
  OrderedList.extend({ addAttributes: () => ({}) }),
  TaskList,
  TaskItem.extend({ content: 'paragraph' }).configure({ a11y: { checkboxLabel: () => m.common_done() } }),
  Placeholder.configure({ placeholder }),
  // By default it cuts the start off a stored text that is longer than the limit.
  CharacterCount.configure({ limit: maxLength ?? null, autoTrim: false }),
]

const schema = getSchema(richTextExtensions())

/** A stored Markdown text as the editor opened it. */
export interface OpenedMarkdown {
  text: string
  content: JSONContent
  /** The blocks, and the source of each up to the first line of the next. */
  blocks: { key: string; source: string }[]
}

/** Reads Markdown for the editor. */
export function openMarkdown(text: string): OpenedMarkdown {
  const lines = text.match(/[^\r\n]*(?:\r\n?|\n)|[^\r\n]+$/g) ?? []
  const parsed = parseMarkdown(text)
  const nodes = parsed.map((block) => schema.nodeFromJSON(blockJson(block)))
  const blocks = nodes.map((node, at) => ({
    key: keyOf(node),
    source: lines.slice(parsed[at]?.line, parsed[at + 1]?.line).join(''),
  }))
  const content = nodes.length > 0 ? nodes.map((node) => node.toJSON()) : [{ type: 'paragraph' }]
  return { text, content: { type: 'doc', content }, blocks }
}

/**
 * Writes the editor's document as Markdown. Blocks that were not edited keep their source to the character, so that
 * an edit does not rewrite the rest of a text that another program wrote.
 */
export function toMarkdown(document: Node, opened: OpenedMarkdown): string {
  const current: Node[] = []
  document.forEach((child) => {
    // An editor's schema has further attributes, such as the direction of a block.
    const node = schema.nodeFromJSON(child.toJSON())
    if (node.textContent.trim() !== '' || node.type.name !== 'paragraph') current.push(node)
  })
  const keys = current.map(keyOf)
  if (keys.length === opened.blocks.length && keys.every((key, at) => key === opened.blocks[at]?.key)) {
    return opened.text
  }
  // Equal blocks are matched in their order.
  const unmatched = Map.groupBy(opened.blocks.keys(), (at) => opened.blocks[at]?.key ?? '')
  const indexes = keys.map((key) => unmatched.get(key)?.shift() ?? -1)
  return current
    .map((node, at) => {
      const index = indexes[at] ?? -1
      const source = opened.blocks[index]?.source ?? blockMarkdown(node)
      const isLast = at === current.length - 1
      const keepsGap =
        index >= 0 && (isLast ? index === opened.blocks.length - 1 : indexes[at + 1] === index + 1)
      if (keepsGap) return source
      return withoutBlankLines(source) + (isLast ? '' : '\n\n')
    })
    .join('')
}

/** A source without the blank lines at its end. The spaces of its last line stay: `- ` is an empty item, `-` is text. */
function withoutBlankLines(source: string): string {
  const { length } = source.trimEnd()
  const endOfLine = source.slice(length).search(/[\r\n]/)
  return endOfLine < 0 ? source : source.slice(0, length + endOfLine)
}

/** Equal for equal blocks. */
const keyOf = (node: Node): string => JSON.stringify(node.toJSON())

function blockJson(block: Block): JSONContent {
  if (block.kind === 'list') {
    const types = { bullet: 'bulletList', number: 'orderedList', check: 'taskList' } as const
    const content = block.items.map(({ isDone, children }) => ({
      ...(isDone === null ? { type: 'listItem' } : { type: 'taskItem', attrs: { checked: isDone } }),
      content: [paragraph(children)],
    }))
    return { type: types[block.marker], content }
  }
  if (block.kind === 'quote') {
    const lines: Inline[][] = [[]]
    for (const inline of block.children) {
      if (inline.kind === 'break') lines.push([])
      else lines.at(-1)?.push(inline)
    }
    return { type: 'blockquote', content: lines.map(paragraph) }
  }
  if (block.kind === 'paragraph') return paragraph(block.children)
  return { type: 'heading', attrs: { level: block.level }, content: inlineJson(block.children) }
}

const paragraph = (children: Inline[]): JSONContent => ({ type: 'paragraph', content: inlineJson(children) })

function inlineJson(inlines: Inline[], marks: NonNullable<JSONContent['marks']> = []): JSONContent[] {
  return inlines.flatMap((inline): JSONContent[] => {
    if (inline.kind === 'break') return [{ type: 'hardBreak' }]
    if (inline.kind === 'text') return [{ type: 'text', text: inline.text, marks }]
    if (inline.kind === 'code')
      return [{ type: 'text', text: inline.text, marks: [...marks, { type: 'code' }] }]
    const mark =
      inline.kind === 'link' ? { type: 'link', attrs: { href: inline.href } } : { type: inline.kind }
    return inlineJson(inline.children, [...marks, mark])
  })
}

interface Writing {
  italic: '*' | '_'
  isEscaped: boolean
}

/** From the plainest way of writing to the safest. */
const WRITINGS: Writing[] = [
  { italic: '*', isEscaped: false },
  { italic: '_', isEscaped: false },
  { italic: '*', isEscaped: true },
  { italic: '_', isEscaped: true },
]

/** Writes a block in the plainest way that reads back as the same block: `2 * 3` needs no backslash, `\*not\*` does. */
function blockMarkdown(node: Node): string {
  const texts = WRITINGS.map((writing) => writeBlock(node, writing))
  const readsBack = (text: string) => {
    const [block, ...others] = parseMarkdown(text)
    return (
      block !== undefined &&
      others.length === 0 &&
      keyOf(schema.nodeFromJSON(blockJson(block))) === keyOf(node)
    )
  }
  return texts.find(readsBack) ?? texts.at(-1) ?? ''
}

function writeBlock(node: Node, writing: Writing): string {
  const name = node.type.name
  const write = (child: Node, lineBreak: string) => writeInlines(child.children, lineBreak, writing).trimEnd()
  if (name === 'paragraph') return escapeLineStarts(write(node, '\n'), writing)
  if (name === 'heading') return `${'#'.repeat(Number(node.attrs.level))} ${write(node, ' ')}`
  if (name === 'blockquote') {
    return node.children.map((line) => `> ${write(line, '\n> ')}`.trimEnd()).join('\n')
  }
  const items = node.children.map((item, at) => {
    const number = name === 'orderedList' ? `${at + 1}. ` : '- '
    const box = name === 'taskList' ? `[${item.attrs.checked ? 'x' : ' '}] ` : ''
    return number + box + item.children.map((line) => write(line, '\n  ')).join('\n  ')
  })
  return items.join('\n')
}

function escapeLineStarts(text: string, { isEscaped }: Writing): string {
  if (!isEscaped) return text
  const lines = text.split('\n').map((line) => {
    const escaped = line.replace(/^(\s*)([#+-]+(?=\s)|>)/, '$1\\$2')
    return escaped.replace(/^(\s*\d{1,9})([.)])(?=\s)/, '$1\\$2')
  })
  return lines.join('\n')
}

function writeInlines(nodes: readonly Node[], lineBreak: string, writing: Writing): string {
  let written = ''
  for (let at = 0; at < nodes.length; ) {
    const node = nodes[at] as Node
    const mark = outermost(node.marks)
    if (!mark) {
      written += node.isText ? escapeText(node.text ?? '', writing) : lineBreak
      at += 1
      continue
    }
    let end = at + 1
    while (end < nodes.length && mark.isInSet(nodes[end]?.marks ?? [])) end += 1
    const inner = nodes.slice(at, end).map((child) => child.mark(mark.removeFromSet(child.marks)))
    written += writeMark(mark, inner, lineBreak, writing)
    at = end
  }
  return written
}

/** Code is the innermost mark: Markdown has no styles within it. */
const outermost = (marks: readonly Mark[]): Mark | undefined =>
  marks.find(({ type }) => type.name === 'link') ?? marks.find(({ type }) => type.name !== 'code') ?? marks[0]

function writeMark(mark: Mark, inner: readonly Node[], lineBreak: string, writing: Writing): string {
  const name = mark.type.name
  const plain = inner.map((node) => node.text ?? ' ').join('')
  if (name === 'code' && !plain.includes('`')) return `\`${plain}\``
  const written = writeInlines(inner, lineBreak, writing)
  if (name === 'link') {
    const address = String(mark.attrs.href)
    const href = address.replace(/[()\s]/g, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0')}`)
    const isBare = plain === address && written === plain && /^https?:/.test(address) && !writing.isEscaped
    return isBare ? address : `[${written}](${href})`
  }
  if (!isStyle(name)) return written
  const delimiter = name === 'italic' ? writing.italic : DELIMITERS[name]
  // Spaces inside the delimiters would make them text.
  const content = written.trim()
  if (content === '') return written
  const before = written.slice(0, written.indexOf(content))
  return before + delimiter + content + delimiter + written.slice(before.length + content.length)
}

const isStyle = (name: string): name is keyof typeof DELIMITERS => Object.hasOwn(DELIMITERS, name)

function escapeText(text: string, { isEscaped }: Writing): string {
  if (!isEscaped) return text
  return text.replace(/[\\`*_~+[\]]/g, '\\$&').replace(/(https?):\/\//g, '$1\\://')
}
