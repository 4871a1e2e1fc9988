import { ListTree, WrapText } from 'lucide-react'
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useImperativeHandle,
  useRef,
  useState,
} from 'react'
import { json, jsonProblem } from '../../src/core/fields/json.ts'
import { formatJson } from '../../src/core/fields/json-tree.ts'
import { m } from '../messages.gen.ts'
import { lazyPart } from '../navigation/lazy-screen.ts'
import { useTextHeight } from '../ui/effects.ts'
import type { EditorProps } from './cell.ts'
import { EditorPopover } from './editor-popover.tsx'
import jsonEditor from './json-editor.module.css'
import { draftOf, useFocusAtEnd, withLineFeeds } from './text-input.tsx'

const JsonTree = lazyPart(() => import('./json-tree.tsx'), 'JsonTree')

/**
 * JSON as text, validated while typing, or as a tree. Enter inserts a line break; Ctrl+Enter and blur save. Unchanged
 * text keeps its exact whitespace.
 */
export function JsonEditor(props: EditorProps<Record<string, never>>): ReactNode {
  const { value, typed, ref, variant } = props
  const initial = withLineFeeds(String(value ?? ''))
  const draft = useRef(typed ?? initial)
  const area = useRef<HTMLTextAreaElement>(null)
  useImperativeHandle(ref, () => ({
    read: () => {
      const now = area.current?.value ?? draft.current
      if (now === initial) return { ok: true, value }
      return draftOf(
        now,
        json.parse(now, {}),
        m.cells_invalid_json_problem({ problem: jsonProblem(now) ?? '' }),
      )
    },
    focus: () => area.current?.focus(),
  }))
  const box = <JsonBox {...props} draft={draft} area={area} />
  if (variant === 'record') return box
  return (
    <EditorPopover
      label={props.label}
      draft={draft}
      preview={initial.slice(0, 200)}
      previewClassName={jsonEditor.anchor}
      dir="ltr"
      className={jsonEditor.popover}
      onKeyDown={onKeyDown}
    >
      {box}
    </EditorPopover>
  )
}

interface JsonBoxProps extends EditorProps<Record<string, never>> {
  draft: RefObject<string>
  area: RefObject<HTMLTextAreaElement | null>
}

function JsonBox({ draft, area, ...props }: JsonBoxProps): ReactNode {
  const { variant, autoFocus } = props
  const [text, setText] = useState(() => draft.current)
  const [showsTree, setShowsTree] = useState(false)
  const problem = text.trim() === '' ? null : jsonProblem(text)
  const set = (next: string) => {
    draft.current = next
    setText(next)
  }
  useFocusAtEnd(area, autoFocus)
  useTextHeight(area, variant === 'grid' || showsTree ? null : text, 480, 2)

  return (
    <div className={jsonEditor.box} data-variant={variant}>
      <div className={jsonEditor.bar}>
        <button
          type="button"
          disabled={problem !== null || text.trim() === ''}
          // Keep the focus in the text: leaving it would close the cell.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => set(formatJson(text) ?? text)}
        >
          <WrapText size={14} aria-hidden />
          {m.common_format()}
        </button>
        <button
          type="button"
          aria-pressed={showsTree}
          disabled={problem !== null}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => setShowsTree(!showsTree)}
        >
          <ListTree size={14} aria-hidden />
          {m.cells_tree()}
        </button>
        <output className={jsonEditor.state} data-wrong={problem !== null || undefined}>
          {text.trim() === '' ? m.cells_empty() : problem === null ? m.cells_valid_json() : problem}
        </output>
      </div>
      {showsTree && problem === null ? (
        <JsonTree text={text} onChange={set} label={props.label} />
      ) : (
        <textarea
          ref={area}
          id={props.id}
          className={jsonEditor.area}
          dir="ltr"
          rows={variant === 'grid' ? 12 : 3}
          spellCheck={false}
          autoComplete="off"
          value={text}
          placeholder='{"size": "M"}'
          aria-label={props.label}
          aria-invalid={props.invalid || problem !== null || undefined}
          aria-describedby={props.describedBy}
          onChange={(event) => set(event.target.value)}
          onKeyDown={onKeyDown}
        />
      )}
      {variant === 'grid' && <p className={jsonEditor.hint}>{m.cells_ctrl_enter_save_esc_cancel()}</p>}
    </div>
  )
}

function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.nativeEvent.isComposing || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  const { value, selectionStart } = event.currentTarget
  const line = value.slice(value.lastIndexOf('\n', selectionStart - 1) + 1, selectionStart)
  const indent = /^\s*/.exec(line)?.[0] ?? ''
  const deeper = /[[{]\s*$/.test(line) ? '  ' : ''
  // The browser's own command keeps its undo history.
  document.execCommand('insertText', false, `\n${indent}${deeper}`)
}
