import { type ReactNode, useId, useLayoutEffect, useRef, useSyncExternalStore } from 'react'
import { changedMeanwhile } from '../../cells/changed-meanwhile.ts'
import { isFocusLeaving } from '../../cells/focus-within.ts'
import { GridBox } from '../../ui/composite.tsx'
import { useIsMounted } from '../../ui/effects.ts'
import type { ResolvedColumn } from '../columns.ts'
import type { GridProps } from '../contract.ts'
import { type EditSession, type Engine, useEngine } from '../engine.ts'
import { type ColumnLayout, FOOTER_HEIGHT, HEADER_HEIGHT, ROW_HEIGHTS, type Span } from '../layout.ts'
import { cancelEditor, commitEditor, leaveEditor, leaveRemovedEditor, store } from '../states/editing.ts'
import { useStore } from '../store.ts'
import styles from './editor-layer.module.css'
import { FloatingNote } from './floating-note.tsx'

interface EditorLayerProps {
  props: GridProps
  layout: ColumnLayout
  /** Every column of the grid. */
  all: readonly ResolvedColumn[]
  /** Those of this layer. */
  columns: Span
}

/** The open editor over its cell. It scrolls with the cell and survives the cell's element. */
export function EditorLayer({ props, layout, all, columns }: EditorLayerProps): ReactNode {
  const engine = useEngine()
  const session = useStore(engine.session)
  const { lines, origin } = useStore(engine.viewport.mounted)
  if (!session) return null
  // Not `session.column`, which follows after this render: others may add, move and hide fields meanwhile.
  const at = all.findIndex(({ fieldId }) => fieldId === session.fieldId)
  const column = all[at]
  if (!column || at < columns.first || at > columns.last) return null
  const height = ROW_HEIGHTS[props.rowHeight]
  const style = {
    insetInlineStart: layout.starts[at]!,
    inlineSize: layout.starts[at + 1]! - layout.starts[at]!,
    insetBlockStart: lines.topOf(session.row) - origin,
    minBlockSize: height,
  }
  return (
    // ARIA allows only rows in a grid, so the editor is one.
    <GridBox role="row" aria-rowindex={session.row + 2}>
      <EditorBox
        // The editor of another type would not take over the text.
        key={`${session.recordId}-${session.fieldId}-${column.field.type}`}
        style={style}
        session={session}
        column={column}
      />
    </GridBox>
  )
}

interface EditorBoxProps {
  style: { insetInlineStart: number; inlineSize: number; insetBlockStart: number; minBlockSize: number }
  session: EditSession
  column: ResolvedColumn
}

function EditorBox({ style, session, column }: EditorBoxProps): ReactNode {
  const engine = useEngine()
  const messageId = useId()
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => keepInSight(engine, box.current), [engine])
  const { recordId, fieldId } = session
  // Runs before the editor unmounts, also because somebody else has hidden, deleted or converted its field.
  useLayoutEffect(
    () => () => {
      const hasFocus = box.current?.contains(document.activeElement) ?? false
      const open = engine.session.get()
      if (open?.recordId === recordId && open.fieldId === fieldId) leaveRemovedEditor(engine)
      if (hasFocus) engine.focus()
    },
    [engine, recordId, fieldId],
  )
  const isStale = useIsStale(engine, session)
  // An editor may still wait for the server when it is left, and must not act on the next one.
  const isMounted = useIsMounted()
  const { Editor } = column.cell
  if (!Editor) return null
  const { createOption } = engine.commands
  return (
    <GridBox
      ref={box}
      role="gridcell"
      aria-colindex={session.column + 2}
      className={styles.editor}
      style={style}
      data-testid="cell-editor"
      data-editor
      data-invalid={session.message ? true : undefined}
      data-align={column.cell.align}
      onInput={() => {
        // Typing clears the message.
        if (session.message) engine.session.set({ ...session, message: null })
      }}
      onBlur={(event) => {
        if (isFocusLeaving(event) && engine.session.get() === session) leaveEditor(engine, 'stay', false)
      }}
    >
      <Editor
        ref={(handle) => {
          engine.editor = handle
        }}
        value={session.opened}
        field={column.field}
        options={column.options}
        variant="grid"
        typed={session.typed}
        commit={(value, move) => {
          if (isMounted.current) commitEditor(engine, value, move)
        }}
        change={(value) => {
          if (!isMounted.current) return
          store(engine, session, value)
          engine.session.set({ ...session, opened: value, hasStored: true })
        }}
        cancel={() => {
          if (isMounted.current) cancelEditor(engine)
        }}
        files={engine.commands.fileTarget?.(session.recordId, session.fieldId) ?? undefined}
        links={engine.commands.linkTarget?.(session.recordId, session.fieldId) ?? undefined}
        createOption={createOption && ((title) => createOption(session.fieldId, title))}
        invalid={session.message !== null}
        describedBy={session.message ? messageId : undefined}
        label={column.field.title}
        autoFocus
      />
      {!session.message && isStale && (
        <FloatingNote anchor={box}>{changedMeanwhile(column.field)}</FloatingNote>
      )}
      {session.message && (
        <FloatingNote id={messageId} anchor={box}>
          {session.message}
        </FloatingNote>
      )}
    </GridBox>
  )
}

/** True once another person has changed the value of the open editor. */
function useIsStale({ props }: Engine, session: EditSession): boolean {
  const { row, recordId, fieldId, opened, hasStored = false } = session
  return useSyncExternalStore(
    (onChange) => props.source.subscribeRow(row, onChange),
    () => {
      const record = props.source.getRow(row)
      return !hasStored && record?.id === recordId && !Object.is(record.values(fieldId), opened)
    },
  )
}

/**
 * Keeps an editor larger than its cell inside the visible part of the grid; follows its size until the returned
 * function is called.
 */
function keepInSight(engine: Engine, box: HTMLElement | null): (() => void) | undefined {
  const { element: scroller, rtl } = engine.viewport
  if (!box || !scroller) return undefined
  const isFrozen = (engine.session.get()?.column ?? 0) < engine.layout.frozen
  const update = () => {
    box.style.translate = 'none'
    const rects = [box, ...box.children].filter((each) => !each.hasAttribute('popover'))
    const all = rects.map((each) => each.getBoundingClientRect())
    const cell = box.getBoundingClientRect()
    const outer = scroller.getBoundingClientRect()
    const start = isFrozen ? 0 : engine.layout.frozenWidth
    const area = {
      left: rtl ? outer.right - scroller.clientWidth : outer.left + start,
      right: rtl ? outer.right - start : outer.left + scroller.clientWidth,
      top: outer.top + HEADER_HEIGHT,
      bottom: outer.top + scroller.clientHeight - FOOTER_HEIGHT,
    }
    // Scrolled out of sight with its cell; it reappears with it.
    if (cell.top < area.top - 1 || cell.top >= area.bottom) return
    const right = Math.max(...all.map((rect) => rect.right))
    const left = Math.min(...all.map((rect) => rect.left))
    const bottom = Math.max(...all.map((rect) => rect.bottom))
    const up = Math.max(0, Math.min(bottom - area.bottom, cell.top - area.top))
    const along = rtl
      ? Math.max(0, Math.min(area.left - left, area.right - right))
      : -Math.max(0, Math.min(right - area.right, left - area.left))
    if (up > 0 || along !== 0) box.style.translate = `${along}px ${-up}px`
  }
  update()
  const observer = new ResizeObserver(update)
  for (const each of [box, ...box.children]) observer.observe(each)
  return () => observer.disconnect()
}
