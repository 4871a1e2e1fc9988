import { Fragment, type ReactNode, useMemo } from 'react'
import { m } from '../messages.gen.ts'
import { keyed } from '../ui/keyed.ts'
import { type Block, type Inline, type ListItem, parseMarkdown } from './markdown.ts'
import styles from './rich-text.module.css'

/** A rich text, drawn as elements: what stands in it can be read and pressed, and never run. */
export function RichText({ text, className }: { text: string; className?: string }): ReactNode {
  const blocks = useMemo(() => parseMarkdown(text), [text])
  return (
    <div className={`${styles.text} ${className ?? ''}`}>
      {keyed(blocks, (block) => block.kind).map(({ key, item: block }) => (
        <BlockView key={key} block={block} />
      ))}
    </div>
  )
}

const HEADINGS = { 1: 'h2', 2: 'h3', 3: 'h4' } as const

function BlockView({ block }: { block: Block }): ReactNode {
  if (block.kind === 'list') return <ListView items={block.items} isOrdered={block.isOrdered} />
  const words = <Words parts={block.children} />
  if (block.kind === 'quote') return <blockquote dir="auto">{words}</blockquote>
  if (block.kind === 'paragraph') return <p dir="auto">{words}</p>
  // A page has its own first heading.
  const Heading = HEADINGS[block.level]
  return <Heading dir="auto">{words}</Heading>
}

function ListView({ items, isOrdered }: { items: ListItem[]; isOrdered: boolean }): ReactNode {
  const lines = keyed(items, (item) => String(item.isDone)).map(({ key, item: { isDone, children } }) => (
    <li key={key} data-box={isDone === null ? undefined : isDone}>
      {isDone !== null && (
        <input
          type="checkbox"
          checked={isDone}
          readOnly
          disabled
          aria-label={isDone ? m.common_done() : m.common_open()}
        />
      )}
      <Words parts={children} />
    </li>
  ))
  return isOrdered ? <ol dir="auto">{lines}</ol> : <ul dir="auto">{lines}</ul>
}

const TAGS = { bold: 'strong', italic: 'em', underline: 'u', strike: 's' } as const

function Words({ parts }: { parts: Inline[] }): ReactNode {
  return keyed(parts, (part) => part.kind).map(({ key, item: part }) => (
    <Fragment key={key}>{piece(part)}</Fragment>
  ))
}

function piece(part: Inline): ReactNode {
  if (part.kind === 'text') return part.text
  if (part.kind === 'break') return <br />
  if (part.kind === 'code') return <code dir="ltr">{part.text}</code>
  if (part.kind === 'link') {
    return (
      <a href={part.href} target="_blank" rel="noopener noreferrer nofollow">
        <Words parts={part.children} />
      </a>
    )
  }
  const Tag = TAGS[part.kind]
  return (
    <Tag>
      <Words parts={part.children} />
    </Tag>
  )
}
