import { AlignLeft } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useImperativeHandle, useRef, useState } from 'react'
import { longText } from '../../src/core/fields/text.ts'
import { m } from '../messages.gen.ts'
import { useTextHeight } from '../ui/effects.ts'
import { defineCell, type EditorProps } from './cell.ts'
import styles from './editor.module.css'
import { draftOf, useFocusAtEnd } from './text-input.tsx'
import { TextView } from './text-view.tsx'

/** Tallest that the text area grows in a grid. */
const MOST_PX = 320

/** Text of several lines; its first ones show, as many as the row has room for. */
export const longTextCell = defineCell(longText, {
  Icon: AlignLeft,
  align: 'start',
  minWidth: 80,
  View: TextView,
  Editor: TextArea,
})

/** A text area that grows with its text. Shift+Enter and Alt+Enter break the line; in a record Enter does. */
function TextArea(props: EditorProps<{ rich: boolean }>): ReactNode {
  const { value, typed, variant, ref, options, autoFocus } = props
  const initial = String(value ?? '')
  const area = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(typed ?? initial)
  useImperativeHandle(ref, () => ({
    read: () => {
      const now = area.current?.value ?? text
      if (now === initial) return { ok: true, value }
      return draftOf(now, longText.parse(now, options), m.cells_this_text_is_too_long())
    },
    focus: () => area.current?.focus(),
  }))
  useFocusAtEnd(area, autoFocus)
  useTextHeight(area, text, variant === 'grid' ? MOST_PX : undefined)
  return (
    <textarea
      ref={area}
      id={props.id}
      className={variant === 'grid' ? styles.area : styles.recordArea}
      dir="auto"
      rows={variant === 'grid' ? 1 : 3}
      value={text}
      aria-label={props.label}
      aria-invalid={props.invalid || undefined}
      aria-describedby={props.describedBy}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
        const breaksLine =
          variant === 'record' ? !(event.ctrlKey || event.metaKey) : event.shiftKey || event.altKey
        if (breaksLine) breakLine(event)
      }}
    />
  )
}

/** Puts a line break where the caret is. By the browser's own command, so that its undo knows of it. */
function breakLine(event: KeyboardEvent<HTMLTextAreaElement>): void {
  event.preventDefault()
  document.execCommand('insertText', false, '\n')
}
