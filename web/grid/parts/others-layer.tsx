import { type CSSProperties, type ReactNode, useEffect, useMemo, useRef } from 'react'
import { type StoreApi, useStore as useOthers } from 'zustand'
import { m } from '../../messages.gen.ts'
import type { ResolvedColumn } from '../columns.ts'
import type { GridProps, OtherCell } from '../contract.ts'
import { type Engine, useEngine } from '../engine.ts'
import { type ColumnLayout, ROW_HEIGHTS, type Span } from '../layout.ts'
import { useStore } from '../store.ts'
import styles from './others-layer.module.css'

interface OthersLayerProps {
  others: StoreApi<readonly OtherCell[]>
  props: GridProps
  layout: ColumnLayout
  /** All columns, in order; `columns` are those that this layer covers: frozen or scrolling. */
  all: readonly ResolvedColumn[]
  columns: Span
  /** Increases when records may have moved to other rows. */
  revision: number
}

/**
 * Outlines with name tags on the cells that other people have selected or are editing. A move redraws this layer only:
 * outlines are positioned by transforms over the grid's geometry.
 */
export function OthersLayer({ others, props, layout, all, columns }: OthersLayerProps): ReactNode {
  const engine = useEngine()
  const cells = useOthers(others)
  const { lines, rows, origin } = useStore(engine.viewport.mounted)
  const columnOf = useMemo(() => new Map(all.map(({ fieldId }, at) => [fieldId, at])), [all])
  const isScrolledLayer = columns.last === all.length - 1
  useAnnounceEditors(engine, isScrolledLayer ? cells : NOBODY)
  const height = ROW_HEIGHTS[props.rowHeight]
  return byCell(cells).map(([key, people]) => {
    const { recordId, fieldId, color } = people[0]!
    const row = props.source.indexOf(recordId)
    const column = columnOf.get(fieldId)
    if (row === undefined || column === undefined) return null
    if (row < rows.first || row > rows.last || !lines.isShown(row)) return null
    if (column < columns.first || column > columns.last) return null
    const style: CSSProperties & Record<'--other' | '--x' | '--y', string> = {
      '--other': color,
      inlineSize: layout.starts[column + 1]! - layout.starts[column]!,
      blockSize: height,
      '--x': `${layout.starts[column]!}px`,
      '--y': `${lines.topOf(row) - origin}px`,
    }
    const editors = people.filter(({ isEditing }) => isEditing)
    return (
      <div
        key={key}
        className={styles.cell}
        style={style}
        data-editing={editors.length > 0 || undefined}
        data-first-row={row === 0 || undefined}
        data-testid="other-cell"
        aria-hidden
      >
        {/* Keyed by the cell: the name is shown in full again after each move. */}
        <span key={`${row} ${column}`} className={styles.tag}>
          {/* Placed in the direction of the page, written in that of the name. */}
          <span className={styles.name} dir="auto">
            {tagOf(people, editors)}
          </span>
        </span>
      </div>
    )
  })
}

const NOBODY: readonly OtherCell[] = []

/**
 * The people in each cell. Keyed by a connection where it is alone, so that its outline moves along; several tabs of one
 * person in one cell count once.
 */
function byCell(cells: readonly OtherCell[]): [key: string, people: OtherCell[]][] {
  const groups = new Map<string, OtherCell[]>()
  for (const cell of cells) {
    const key = `${cell.recordId} ${cell.fieldId}`
    const group = groups.get(key)
    if (group) group.push(cell)
    else groups.set(key, [cell])
  }
  return [...groups.values()].map((people) => [people[0]!.id, people])
}

const namesOf = (people: readonly OtherCell[]): string[] => [...new Set(people.map(({ name }) => name))]

function tagOf(people: readonly OtherCell[], editors: readonly OtherCell[]): string {
  const [editor] = editors
  if (editor) return m.presence_is_editing({ name: editor.name })
  const [name = '', ...more] = namesOf(people)
  return more.length === 0 ? name : m.presence_name_and_others({ name, count: more.length })
}

/** Tells screen readers when someone begins to edit the active cell. Other moves are not announced. */
function useAnnounceEditors(engine: Engine, cells: readonly OtherCell[]): void {
  const announced = useRef(new Set<string>())
  useEffect(() => {
    const { active } = engine
    const recordId = active && engine.rowAt(active.row)?.id
    const fieldId = active && engine.columns[active.column]?.fieldId
    const editors = cells.filter(
      (cell) => cell.isEditing && cell.recordId === recordId && cell.fieldId === fieldId,
    )
    for (const { id, name } of editors)
      if (!announced.current.has(id)) engine.announce(m.presence_is_editing_this_cell({ name }))
    announced.current = new Set(editors.map(({ id }) => id))
  }, [engine, cells])
}
