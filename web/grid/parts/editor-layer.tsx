import { type ReactNode, useId } from 'react'
import { isFocusLeaving } from '../../cells/focus-within.ts'
import type { ResolvedColumn } from '../columns.ts'
import { type EditSession, useEngine } from '../engine.ts'
import { type ColumnLayout, ROW_HEIGHTS, type Span } from '../layout.ts'
import type { GridProps } from '../props.ts'
import { cancelEditor, commitEditor, leaveEditor, store } from '../states/editing.ts'
import { useStore } from '../store.ts'
import styles from './editor-layer.module.css'

interface EditorLayerProps {
  props: GridProps
  layout: ColumnLayout
  columns: Span
}

/** The open editor, over its cell. It scrolls with the cell, and outlives the cell's element. */
export function EditorLayer({ props, layout, columns }: EditorLayerProps): ReactNode {
  const engine = useEngine()
  const session = useStore(engine.session)
  const { lines, origin } = useStore(engine.viewport.mounted)
  if (!session || session.column < columns.first || session.column > columns.last) return null
  const column = engine.columns[session.column]
  if (!column || column.fieldId !== session.fieldId) return null
  const height = ROW_HEIGHTS[props.rowHeight]
  const style = {
    insetInlineStart: layout.starts[session.column]!,
    inlineSize: layout.starts[session.column + 1]! - layout.starts[session.column]!,
    insetBlockStart: lines.topOf(session.row) - origin,
    minBlockSize: height,
  }
  return (
    <EditorBox
      key={`${session.recordId}-${session.fieldId}`}
      style={style}
      session={session}
      column={column}
    />
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
  const { Editor } = column.cell
  if (!Editor) return null
  const { createOption } = engine.props.commands
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it watches the focus of the editor in it
    <div
      className={styles.editor}
      style={style}
      data-testid="cell-editor"
      data-editor
      data-invalid={session.message ? true : undefined}
      data-align={column.cell.align}
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
        commit={(value, move) => commitEditor(engine, value, move)}
        change={(value) => {
          store(engine, session, value)
          engine.session.set({ ...session, opened: value })
        }}
        cancel={() => cancelEditor(engine)}
        files={engine.props.commands.fileTarget?.(session.recordId, session.fieldId) ?? undefined}
        links={engine.props.commands.linkTarget?.(session.recordId, session.fieldId) ?? undefined}
        createOption={createOption && ((title) => createOption(session.fieldId, title))}
        invalid={session.message !== null}
        describedBy={session.message ? messageId : undefined}
        label={column.field.title}
        autoFocus
      />
      {session.message && (
        <div id={messageId} className={styles.editorMessage} role="alert">
          {session.message}
        </div>
      )}
    </div>
  )
}
