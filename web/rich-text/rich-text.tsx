import { createContext, Fragment, type MouseEvent, type ReactNode, useContext, useMemo } from 'react'
import { splitMentions } from '../../src/core/mentions.ts'
import { m } from '../messages.gen.ts'
import { keyed } from '../ui/keyed.ts'
import { type Block, type Inline, type ListItem, parseMarkdown } from './markdown.ts'
import styles from './rich-text.module.css'

interface RichTextProps {
  /** Markdown. */
  text: string
  className?: string
  /**
   * Drawn in a cell of a grid or on a card: headings are bold text, boxes are characters, and links are opened by
   * Ctrl+click, because a plain click selects the cell.
   */
  inCell?: boolean
  /** The present name of a mentioned person. Without it, mentions are not recognized. */
  nameOf?: (userId: string) => string
}

const InCell = createContext(false)
const Mentions = createContext<((userId: string) => string) | null>(null)

/** Draws Markdown as React elements, without the editor. HTML in it stays text, and links open safe protocols only. */
export function RichText({ text, className, inCell = false, nameOf }: RichTextProps): ReactNode {
  const blocks = useMemo(() => parseMarkdown(text), [text])
  return (
    <InCell value={inCell}>
      <Mentions value={nameOf ?? null}>
        <div className={`${styles.text} ${className ?? ''}`}>
          {keyed(blocks, (block) => block.kind).map(({ key, item: block }) => (
            <BlockView key={key} block={block} />
          ))}
        </div>
      </Mentions>
    </InCell>
  )
}

/** One level down, because the page already has an `<h1>`. */
const HEADINGS = { 1: 'h2', 2: 'h3', 3: 'h4' } as const

function BlockView({ block }: { block: Block }): ReactNode {
  const inCell = useContext(InCell)
  if (block.kind === 'list') return <ListView items={block.items} isOrdered={block.marker === 'number'} />
  const content = <Inlines inlines={block.children} />
  if (block.kind === 'quote') return <blockquote dir="auto">{content}</blockquote>
  if (block.kind === 'paragraph') return <p dir="auto">{content}</p>
  if (inCell) {
    return (
      <p dir="auto">
        <strong>{content}</strong>
      </p>
    )
  }
  const Heading = HEADINGS[block.level]
  return <Heading dir="auto">{content}</Heading>
}

function ListView({ items, isOrdered }: { items: ListItem[]; isOrdered: boolean }): ReactNode {
  const rows = keyed(items, (item) => String(item.isDone)).map(({ key, item: { isDone, children } }) => (
    <li key={key} data-box={isDone === null ? undefined : isDone}>
      {isDone !== null && <Box isDone={isDone} />}
      <Inlines inlines={children} />
    </li>
  ))
  return isOrdered ? <ol dir="auto">{rows}</ol> : <ul dir="auto">{rows}</ul>
}

function Box({ isDone }: { isDone: boolean }): ReactNode {
  const label = isDone ? m.common_done() : m.common_open()
  if (!useContext(InCell))
    return <input type="checkbox" checked={isDone} readOnly disabled aria-label={label} />
  return (
    <span role="img" aria-label={label} className={styles.box}>
      {isDone ? '☑' : '☐'}
    </span>
  )
}

const TAGS = { bold: 'strong', italic: 'em', underline: 'u', strike: 's' } as const

function Inlines({ inlines }: { inlines: Inline[] }): ReactNode {
  return keyed(inlines, (inline) => inline.kind).map(({ key, item }) => (
    <Fragment key={key}>{drawInline(item)}</Fragment>
  ))
}

function drawInline(inline: Inline): ReactNode {
  if (inline.kind === 'text') return <PlainText text={inline.text} />
  if (inline.kind === 'break') return <br />
  if (inline.kind === 'code') return <code dir="ltr">{inline.text}</code>
  const content = <Inlines inlines={inline.children} />
  if (inline.kind === 'link') {
    return <TextLink href={inline.href}>{content}</TextLink>
  }
  const Tag = TAGS[inline.kind]
  return <Tag>{content}</Tag>
}

function PlainText({ text }: { text: string }): ReactNode {
  const nameOf = useContext(Mentions)
  if (nameOf === null) return text
  return keyed(splitMentions(text), (piece) => typeof piece).map(({ key, item }) =>
    typeof item === 'string' ? (
      <Fragment key={key}>{item}</Fragment>
    ) : (
      <span key={key} className={styles.mention} dir="auto">
        @{nameOf(item.userId)}
      </span>
    ),
  )
}

function TextLink({ href, children }: { href: string; children: ReactNode }): ReactNode {
  const inCell = useContext(InCell)
  const openWithKey = (event: MouseEvent) => {
    if (!event.ctrlKey && !event.metaKey) event.preventDefault()
  }
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      tabIndex={inCell ? -1 : undefined}
      draggable={inCell ? false : undefined}
      title={inCell ? m.cells_open_ctrl_click() : undefined}
      onClick={inCell ? openWithKey : undefined}
    >
      {children}
    </a>
  )
}
