import { AlignLeft, DatabaseZap, KeyRound, Spline, Type } from 'lucide-react'
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useImperativeHandle,
  useRef,
  useState,
} from 'react'
import type { FieldType } from '../../src/core/fields/field-type.ts'
import { geometry } from '../../src/core/fields/geometry.ts'
import { PASSWORD_MASK, password } from '../../src/core/fields/password.ts'
import { specificDbType } from '../../src/core/fields/specific-db-type.ts'
import { longText, MAX_TEXT_LENGTH, singleLineText } from '../../src/core/fields/text.ts'
import { m } from '../messages.gen.ts'
import { lazyPart } from '../navigation/lazy-screen.ts'
import { RichTextEditor } from '../rich-text/rich-text-editor.tsx'
import type { RichTextHandle } from '../rich-text/text-editor.tsx'
import { ControlGroup } from '../ui/composite.tsx'
import { useTextHeight } from '../ui/effects.ts'
import { type Draft, defineCell, type EditorProps, type ViewProps } from './cell.ts'
import styles from './editor.module.css'
import { EditorPopover } from './editor-popover.tsx'
import mono from './mono.module.css'
import { draftOf, TextInput, useFocusAtEnd } from './text-input.tsx'
import { DRAWN_PER_LINE, TextView } from './text-view.tsx'
import view from './view.module.css'

/** The editor of types that limit only the text's length. */
function PlainEditor<O>({ type, ...props }: EditorProps<O> & { type: FieldType<O> }): ReactNode {
  return (
    <TextInput
      {...props}
      initial={String(props.value ?? '')}
      parse={(text) => draftOf(text, type.parse(text, props.options), m.cells_this_text_is_too_long())}
    />
  )
}

export const singleLineTextCell = defineCell(singleLineText, {
  Icon: Type,
  align: 'start',
  minWidth: 60,
  View: TextView,
  Editor: (props) => <PlainEditor {...props} type={singleLineText} />,
})

/** Maximum height of the text area in a grid. */
const MOST_PX = 320

/** Multi-line text; a grid shows the lines that fit the row. */
export const longTextCell = defineCell(longText, {
  Icon: AlignLeft,
  align: 'start',
  minWidth: 80,
  View: (props) => (props.options.rich ? <RichTextView {...props} /> : <TextView {...props} />),
  Editor: (props) => (props.options.rich ? <RichTextCellEditor {...props} /> : <TextArea {...props} />),
})

const RichText = lazyPart(() => import('../rich-text/rich-text.tsx'), 'RichText')

/** Rendered Markdown. A grid shows the lines that fit, in its text size; a record shows all. */
function RichTextView({ value, variant, lines }: Pick<ViewProps, 'value' | 'variant' | 'lines'>): ReactNode {
  if (value === null || value === '') return null
  const text = String(value)
  if (variant === 'record') return <RichText text={text} />
  return (
    <span
      className={`${view.lines} ${view.formatted}`}
      style={{ WebkitLineClamp: lines }}
      data-one-line={lines === 1 || undefined}
    >
      <RichText text={text.slice(0, DRAWN_PER_LINE * lines)} inCell />
    </span>
  )
}

/** The rich text editor: a popover in a grid, inline in a record. Ctrl+Enter and blur save. */
function RichTextCellEditor(props: EditorProps<{ rich: boolean }>): ReactNode {
  const { value, typed, variant, ref, options } = props
  const initial = String(value ?? '')
  const draft = useRef(typed ?? initial)
  const editor = useRef<RichTextHandle>(null)
  const read = (): Draft => {
    const text = editor.current?.read() ?? draft.current
    if (text === initial) return { ok: true, value }
    return draftOf(text, longText.parse(text, options), m.cells_this_text_is_too_long())
  }
  useImperativeHandle(ref, () => ({ read, focus: () => editor.current?.focus() }))
  const onKeyDownCapture = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    event.stopPropagation()
    const now = read()
    if (now.ok) props.commit(now.value, 'stay')
  }
  if (variant === 'record') {
    return (
      <ControlGroup data-cell-popover onKeyDownCapture={onKeyDownCapture}>
        <RichTextBox {...props} draft={draft} editor={editor} />
      </ControlGroup>
    )
  }
  return (
    <EditorPopover
      label={props.label}
      draft={draft}
      preview={<RichTextView {...props} lines={1} />}
      previewClassName={styles.input}
      className={styles.richPopover}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) breakLine(event)
      }}
      onKeyDownCapture={onKeyDownCapture}
    >
      <RichTextBox {...props} draft={draft} editor={editor} />
    </EditorPopover>
  )
}

interface RichTextBoxProps extends EditorProps<{ rich: boolean }> {
  draft: RefObject<string>
  editor: RefObject<RichTextHandle | null>
}

/** Passes the draft to the editor once, when it mounts. */
function RichTextBox({ draft, editor, label, autoFocus }: RichTextBoxProps): ReactNode {
  const [opened] = useState(() => draft.current)
  return (
    <RichTextEditor
      ref={editor}
      label={label}
      value={opened}
      maxLength={MAX_TEXT_LENGTH}
      autoFocus={autoFocus}
    />
  )
}

/** A text area that grows with its text. Shift+Enter and Alt+Enter insert a line break; in a record, Enter does too. */
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

/** Inserts a line break at the caret through the browser's command, which supports undo. */
function breakLine(event: KeyboardEvent<HTMLTextAreaElement>): void {
  event.preventDefault()
  document.execCommand('insertText', false, '\n')
}

/** A geometry in well-known text. */
export const geometryCell = defineCell(geometry, {
  Icon: Spline,
  align: 'start',
  minWidth: 80,
  View: TextView,
  Editor: (props) => (
    <TextInput
      {...props}
      initial={String(props.value ?? '')}
      placeholder={geometry.example}
      parse={(text) =>
        draftOf(
          text,
          geometry.parse(text, {}),
          m.cells_enter_geometry_wkt_such_example({ example: geometry.example }),
        )
      }
    />
  ),
})

/** A column of a database type without a matching field type. */
export const specificDbTypeCell = defineCell(specificDbType, {
  Icon: DatabaseZap,
  align: 'start',
  minWidth: 80,
  View: TextView,
  Editor: (props) => <PlainEditor {...props} type={specificDbType} />,
})

/** Dots for a stored password, which is never readable. The editor starts empty; leaving it empty changes nothing. */
export const passwordCell = defineCell(password, {
  Icon: KeyRound,
  align: 'start',
  minWidth: 70,
  View: ({ value }) =>
    value === null || value === '' ? null : (
      <span className={mono.secret} role="img" aria-label={m.cells_password_set()}>
        {PASSWORD_MASK}
      </span>
    ),
  Editor: (props) => (
    <TextInput
      {...props}
      initial=""
      type="password"
      resting={props.variant === 'record' && props.value !== null ? PASSWORD_MASK : undefined}
      placeholder={props.value === null || props.variant === 'record' ? '' : m.common_new_password()}
      parse={(text) => draftOf(text, password.parse(text, {}), m.cells_this_text_is_too_long())}
    />
  ),
  copyText: () => '',
})
