import {
  Bold,
  Code,
  Heading1,
  Heading2,
  Heading3,
  Italic,
  Link,
  List,
  ListChecks,
  ListOrdered,
  type LucideIcon,
  Strikethrough,
  TextQuote,
  Underline,
} from 'lucide-react'
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react'
import { m } from '../messages.gen.ts'
import { IconButton } from '../ui/button.tsx'
import { ControlGroup } from '../ui/composite.tsx'
import { useTextHeight } from '../ui/effects.ts'
import { MARKS } from './markdown.ts'
import styles from './rich-text.module.css'

export interface RichTextEditorProps {
  label: string
  value: string
  placeholder?: string
  maxLength?: number
  autoFocus?: boolean
  /** Called as the person leaves, and by Ctrl+Enter. */
  onCommit: (text: string) => void
  /** Escape: the text as it was stands again. */
  onCancel?: () => void
}

interface Tool {
  icon: LucideIcon
  label: string
  /** Signs on both sides of what is selected, or at the beginning of its lines. */
  mark: { around: string } | { line: string } | { link: true }
  key?: string
}

const tools = (): Tool[] => [
  { icon: Bold, label: m.text_bold(), mark: { around: MARKS.bold }, key: 'b' },
  { icon: Italic, label: m.text_italic(), mark: { around: MARKS.italic }, key: 'i' },
  { icon: Underline, label: m.text_underline(), mark: { around: MARKS.underline }, key: 'u' },
  { icon: Strikethrough, label: m.text_strikethrough(), mark: { around: MARKS.strike } },
  { icon: Code, label: m.text_code(), mark: { around: MARKS.code } },
  { icon: Heading1, label: m.text_heading_1(), mark: { line: '# ' } },
  { icon: Heading2, label: m.text_heading_2(), mark: { line: '## ' } },
  { icon: Heading3, label: m.text_heading_3(), mark: { line: '### ' } },
  { icon: TextQuote, label: m.text_quote(), mark: { line: '> ' } },
  { icon: List, label: m.common_list(), mark: { line: '- ' } },
  { icon: ListOrdered, label: m.text_numbered_list(), mark: { line: '1. ' } },
  { icon: ListChecks, label: m.text_checklist(), mark: { line: '- [ ] ' } },
  { icon: Link, label: m.common_link(), mark: { link: true }, key: 'k' },
]

/** Writes a rich text as markdown, with buttons for its signs. Changes go through the browser, so its undo works. */
export function RichTextEditor(props: RichTextEditorProps) {
  const { label, value, placeholder, maxLength = 20_000, autoFocus = false, onCommit, onCancel } = props
  const [text, setText] = useState(value)
  const [told, setTold] = useState(value)
  if (told !== value) {
    setTold(value)
    setText(value)
  }
  const area = useRef<HTMLTextAreaElement>(null)
  const isCancelled = useRef(false)
  useTextHeight(area, text, 420)
  useLayoutEffect(() => {
    const element = area.current
    if (!element || !autoFocus) return
    element.focus()
    element.setSelectionRange(element.value.length, element.value.length)
  }, [autoFocus])

  const use = ({ mark }: Tool) => {
    const element = area.current
    if (!element) return
    element.focus()
    if ('around' in mark) surround(element, mark.around)
    else if ('line' in mark) beginLines(element, mark.line)
    else insertLink(element)
  }
  const commit = () => {
    if (!isCancelled.current && text !== value) onCommit(text)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const isMod = event.ctrlKey || event.metaKey
    const tool = isMod ? tools().find(({ key }) => key === event.key.toLowerCase()) : undefined
    if (tool) {
      event.preventDefault()
      event.stopPropagation()
      use(tool)
    } else if (event.key === 'Enter' && isMod) {
      event.preventDefault()
      commit()
    } else if (event.key === 'Escape' && onCancel) {
      event.preventDefault()
      isCancelled.current = true
      onCancel()
    }
  }
  return (
    <ControlGroup
      className={styles.editor}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) commit()
      }}
      onKeyDown={onKeyDown}
    >
      <div className={styles.tools} role="toolbar" aria-label={m.text_text_style()}>
        {tools().map((tool) => (
          <IconButton
            key={tool.label}
            icon={tool.icon}
            iconSize={14}
            size="small"
            label={tool.label}
            // The text keeps its selection.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => use(tool)}
          />
        ))}
      </div>
      <textarea
        ref={area}
        className={styles.area}
        dir="auto"
        aria-label={label}
        placeholder={placeholder}
        maxLength={maxLength}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </ControlGroup>
  )
}

/** Puts text in place of what is selected, by the browser's own command so that its undo knows of it. */
function replace(
  area: HTMLTextAreaElement,
  from: number,
  to: number,
  text: string,
  select: [number, number],
) {
  area.setSelectionRange(from, to)
  document.execCommand('insertText', false, text)
  area.setSelectionRange(...select)
}

function surround(area: HTMLTextAreaElement, sign: string): void {
  const { selectionStart: from, selectionEnd: to, value } = area
  const isMarked =
    value.slice(from - sign.length, from) === sign && value.slice(to, to + sign.length) === sign
  const words = value.slice(from, to)
  if (isMarked) {
    const start = from - sign.length
    replace(area, start, to + sign.length, words, [start, start + words.length])
  } else {
    const start = from + sign.length
    replace(area, from, to, sign + words + sign, [start, start + words.length])
  }
}

function beginLines(area: HTMLTextAreaElement, sign: string): void {
  const { selectionStart, selectionEnd, value } = area
  const from = value.lastIndexOf('\n', selectionStart - 1) + 1
  const end = value.indexOf('\n', selectionEnd)
  const to = end === -1 ? value.length : end
  const lines = value.slice(from, to).split('\n')
  const isMarked = lines.every((line) => line.startsWith(sign))
  const next = lines.map((line) => (isMarked ? line.slice(sign.length) : sign + line)).join('\n')
  replace(area, from, to, next, [from + next.length, from + next.length])
}

function insertLink(area: HTMLTextAreaElement): void {
  const { selectionStart: from, selectionEnd: to, value } = area
  const words = value.slice(from, to) || m.text_link()
  const start = from + words.length + 3
  replace(area, from, to, `[${words}](https://)`, [start, start + 'https://'.length])
}
