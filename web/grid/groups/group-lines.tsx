import { Plus } from 'lucide-react'
import { memo, type ReactNode } from 'react'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { m } from '../../messages.gen.ts'
import { GridBox } from '../../ui/composite.tsx'
import { useOnChange } from '../../ui/effects.ts'
import type { ResolvedColumn } from '../columns.ts'
import { useEngine } from '../engine.ts'
import type { ColumnLayout } from '../layout.ts'
import { selectCell } from '../selection.ts'
import type { GridGroups } from '../source.ts'
import { useStore, useStorePart } from '../store.ts'
import { GroupHeader } from './group-header.tsx'
import styles from './groups.module.css'
import { groupsHeldAt } from './held-groups.ts'
import { GROUP_HEIGHT, LINE_HEIGHTS, type Line, type RowLines } from './row-lines.ts'
import { type GroupNode, keyOf, placeOf } from './tree.ts'

interface GroupLinesProps {
  groups: GridGroups
  columns: readonly ResolvedColumn[]
  layout: ColumnLayout
}

/** Headers are used again for others once they are out of sight, as rows are: more than these are never near it. */
const POOL = 96

/** What stands between the rows: headers of groups, a line for a new record, and what is not listed yet. */
export function GroupLines({ groups, columns, layout }: GroupLinesProps): ReactNode {
  const engine = useEngine()
  const { lines, band, origin, columns: shown } = useStore(engine.viewport.mounted)
  const drawn = lines.linesBetween(band.first, band.last)
  const further = drawn.find((line) => line.kind === 'more' || (line.kind === 'rows' && line.isFurther))
  const parent = further && furtherOf(further)
  const { tree } = groups
  // With each page that has come, as long as there are rows in sight whose groups are not known.
  useOnChange([groups, parent, tree], () => {
    if (parent !== undefined) groups.readMore(parent)
  })
  // For the moment in which other groups have come and nothing stands in its place yet.
  if (lines.levels !== groups.levels) return null
  return (
    <>
      {drawn.map((line) => {
        const top = line.top - origin
        if (line.kind === 'group') {
          return (
            <GroupHeader
              key={`group ${line.ordinal % POOL}`}
              groups={groups}
              columns={columns}
              layout={layout}
              top={top}
              first={shown.first}
              last={shown.last}
              group={line.node}
              isCollapsed={line.isCollapsed}
              position={line.position}
            />
          )
        }
        if (line.kind === 'add') {
          return (
            <AddLine
              key={`add ${line.ordinal % POOL}`}
              groups={groups}
              layout={layout}
              top={top}
              line={line}
            />
          )
        }
        if (line.kind !== 'more') return null
        return <MoreLine key={`more ${line.first}`} layout={layout} top={top} line={line} />
      })}
      <StickyGroups groups={groups} columns={columns} layout={layout} lines={lines} />
    </>
  )
}

const furtherOf = (line: Line): GroupNode | null =>
  line.kind === 'more' ? line.parent : line.kind === 'rows' ? line.group : null

/** The headers of the groups that one is in, while their own places are scrolled out. */
function StickyGroups({ groups, columns, layout, lines }: GroupLinesProps & { lines: RowLines }): ReactNode {
  const engine = useEngine()
  const { columns: shown } = useStore(engine.viewport.mounted)
  const held = useStorePart(engine.viewport.scrolled, (top) => keyOf(groupsHeldAt(lines, top)))
  const keys: CellValue[] = JSON.parse(held)
  const path = keys
    .map((_, level) => placeOf(groups.tree, keys.slice(0, level + 1)))
    .filter((place) => place !== null)
  if (path.length === 0) return null
  return (
    <div className={styles.sticky} aria-hidden>
      {path.map(({ node, first: row }, level) => (
        <GroupHeader
          key={keyOf(node.keys)}
          groups={groups}
          columns={columns}
          layout={layout}
          first={shown.first}
          last={shown.last}
          group={node}
          top={level * GROUP_HEIGHT}
          isCollapsed={false}
          position={lines.positionOf(row)}
          isSticky
        />
      ))}
    </div>
  )
}

interface LineProps<K extends Line['kind']> {
  line: Extract<Line, { kind: K }>
  groups: GridGroups
  layout: ColumnLayout
  top: number
}

const AddLine = memo(function AddLine({ line, groups, layout, top }: LineProps<'add'>): ReactNode {
  const engine = useEngine()
  const { addRow } = groups
  const add = () => {
    const row = addRow?.(line.group) ?? null
    if (row === null) return
    engine.refresh()
    engine.select(selectCell({ row, column: 0 }))
    engine.focus()
  }
  return (
    <GridBox
      role="row"
      aria-rowindex={line.position + 2}
      className={styles.line}
      style={{ insetBlockStart: top, blockSize: LINE_HEIGHTS.add, inlineSize: layout.width }}
    >
      <GridBox role="gridcell" aria-colindex={1} className={styles.lineCell}>
        <button
          type="button"
          tabIndex={-1}
          className={styles.add}
          data-part="addRow"
          data-testid="add-row-in-group"
          aria-label={m.grid_new_record_in_this_group()}
          title={m.grid_new_record_in_this_group()}
          onClick={add}
        >
          <Plus size={14} aria-hidden />
        </button>
      </GridBox>
    </GridBox>
  )
})

function MoreLine({ line, layout, top }: Omit<LineProps<'more'>, 'groups'>): ReactNode {
  return (
    <GridBox
      role="row"
      aria-rowindex={line.position + 2}
      className={styles.line}
      style={{ insetBlockStart: top, blockSize: LINE_HEIGHTS.more, inlineSize: layout.width }}
    >
      <GridBox role="gridcell" aria-colindex={1} className={`${styles.lineCell} ${styles.more}`}>
        {m.grid_records_in_more_groups({ count: line.count })}
      </GridBox>
    </GridBox>
  )
}
