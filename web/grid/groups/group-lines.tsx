import { ChevronDown, ChevronRight, EllipsisVertical, Plus } from 'lucide-react'
import { type CSSProperties, memo, type ReactNode } from 'react'
import { shownType } from '../../../src/core/fields/field.ts'
import { type CellValue, completeOptions } from '../../../src/core/fields/field-type.ts'
import type { Field } from '../../../src/core/model.ts'
import { CELLS } from '../../cells/index.ts'
import { formatNumber } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { GridBox, GridText } from '../../ui/composite.tsx'
import { useOnChange } from '../../ui/effects.ts'
import type { ResolvedColumn } from '../columns.ts'
import type { GridGroups } from '../contract.ts'
import { useEngine } from '../engine.ts'
import type { ColumnLayout } from '../layout.ts'
import { selectCell } from '../selection.ts'
import { useStore, useStorePart } from '../store.ts'
import { groupName, groupText } from './group-text.ts'
import styles from './groups.module.css'
import { GROUP_HEIGHT, LINE_HEIGHTS, type Line, type RowLines, stickyGroupsAt } from './row-lines.ts'
import { type GroupNode, keyOf, placeOf } from './tree.ts'

interface GroupLinesProps {
  groups: GridGroups
  columns: readonly ResolvedColumn[]
  layout: ColumnLayout
}

/** Headers are recycled like rows; at most this many are near the viewport. */
const POOL = 96

/** Everything between the rows: group headers, "new record" lines and groups not read yet. */
export function GroupLines({ groups, columns, layout }: GroupLinesProps): ReactNode {
  const engine = useEngine()
  const { lines, band, origin, columns: shown } = useStore(engine.viewport.mounted)
  const drawn = lines.linesBetween(band.first, band.last)
  const further = drawn.find((line) => line.kind === 'more' || (line.kind === 'rows' && line.isFurther))
  const parent = further && furtherOf(further)
  const { tree } = groups
  // Reads further pages while rows of unknown groups are in sight.
  useOnChange([groups, parent, tree], () => {
    if (parent !== undefined) groups.readMore(parent)
  })
  // Skips the frame in which the new groups are not laid out yet.
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

/** Sticky headers of the groups at the top of the viewport. */
function StickyGroups({ groups, columns, layout, lines }: GroupLinesProps & { lines: RowLines }): ReactNode {
  const engine = useEngine()
  const { columns: shown } = useStore(engine.viewport.mounted)
  const held = useStorePart(engine.viewport.scrolled, (top) => keyOf(stickyGroupsAt(lines, top)))
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

interface GroupHeaderProps {
  groups: GridGroups
  group: GroupNode
  columns: readonly ResolvedColumn[]
  layout: ColumnLayout
  /** The drawn scrolling columns. */
  first: number
  last: number
  /** Position in the scrolled element, or below the grid's header. */
  top: number
  isCollapsed: boolean
  /** Number of lines above it. */
  position: number
  /** True for the sticky copy at the top. */
  isSticky?: boolean
}

/** Indentation per level, and the header's minimum width on narrow screens, where no column is frozen. */
const INDENT = 16
const LEAST_WIDTH = 280

/** A group's header: its value, record count and summaries under their columns. */
const GroupHeader = memo(function GroupHeader(props: GroupHeaderProps): ReactNode {
  const { groups, group, columns, layout, first, last, top, isCollapsed, position, isSticky = false } = props
  const engine = useEngine()
  const room = useStore(engine.viewport.width)
  const level = group.keys.length - 1
  const field = groups.fields[level]
  const value = group.keys[level] ?? null
  if (!field) return null
  const name = groupName(field, value, engine.people)
  const count = m.common_records_count({ count: group.count })
  const width = Math.max(layout.frozenWidth, Math.min(LEAST_WIDTH, room - 24))
  const summaries = columns.slice(first, last + 1).map((column, at) => {
    const text = groups.summary(column.column, group)
    if (text === null) return null
    const start = layout.starts[first + at]!
    const label = `${column.column.summary?.label ?? ''} ${text}`
    return (
      <GridText
        key={column.fieldId}
        role="gridcell"
        aria-colindex={first + at + 2}
        className={styles.summary}
        data-testid="group-summary"
        data-field={column.fieldId}
        title={`${column.field.title}: ${label}`}
        style={{ insetInlineStart: start, inlineSize: layout.starts[first + at + 1]! - start }}
      >
        <span className={styles.summaryText}>{text}</span>
      </GridText>
    )
  })
  return (
    <GridBox
      role="row"
      aria-rowindex={position + 2}
      aria-level={level + 1}
      aria-expanded={!isCollapsed}
      aria-label={m.grid_group_field_value_count({ field: field.title, value: name, count })}
      className={styles.header}
      data-testid={isSticky ? 'sticky-group' : 'group'}
      data-part="group"
      data-group={keyOf(group.keys)}
      data-level={level}
      style={{ insetBlockStart: top, blockSize: GROUP_HEIGHT, inlineSize: layout.width }}
    >
      <GridBox role="rowheader" aria-colindex={1} className={styles.label} style={labelStyle(width, level)}>
        <button
          type="button"
          tabIndex={-1}
          className={styles.toggle}
          data-testid="group-toggle"
          onClick={() => groups.toggle(group)}
        >
          <span className="visually-hidden">
            {isCollapsed ? m.grid_expand_group({ group: name }) : m.grid_collapse_group({ group: name })}
          </span>
          {isCollapsed ? (
            <ChevronRight size={16} aria-hidden className={styles.caret} />
          ) : (
            <ChevronDown size={16} aria-hidden />
          )}
          <span className={styles.words} aria-hidden>
            <span className={styles.field} dir="auto">
              {field.title}
            </span>
            <span className={styles.value} title={name} dir="auto">
              <GroupValue field={field} value={value} width={width - 120 - level * INDENT} />
            </span>
          </span>
          <span className={styles.count} title={count} aria-hidden>
            {formatNumber(group.count)}
          </span>
        </button>
        <FrozenSummaries groups={groups} group={group} columns={columns} last={layout.frozen - 1} />
        <button
          type="button"
          tabIndex={-1}
          className={styles.menu}
          data-testid="group-menu"
          aria-haspopup="menu"
          aria-label={m.grid_options_for_group_group({ group: name })}
          onClick={(event) => groups.openMenu(group, { element: event.currentTarget })}
        >
          <EllipsisVertical size={14} aria-hidden />
        </button>
      </GridBox>
      {summaries}
    </GridBox>
  )
})

// A custom property, because several styles depend on the indentation.
function labelStyle(inlineSize: number, level: number): CSSProperties {
  const variables: Record<`--${string}`, string> = { '--indent': `${level * INDENT}px` }
  return { inlineSize, ...variables }
}

/** The group's value covers the frozen columns, so their summaries come after it. */
function FrozenSummaries({
  groups,
  group,
  columns,
  last,
}: Pick<GroupHeaderProps, 'groups' | 'group' | 'columns'> & { last: number }): ReactNode {
  return columns.slice(0, last + 1).map((column) => {
    const text = groups.summary(column.column, group)
    if (text === null) return null
    const title = `${column.field.title}: ${column.column.summary?.label ?? ''} ${text}`
    return (
      <span
        key={column.fieldId}
        className={styles.frozenSummary}
        data-testid="group-summary"
        data-field={column.fieldId}
        title={title}
      >
        {text}
      </span>
    )
  })
}

/** A value drawn like a cell of its field. */
function GroupValue({ field, value, width }: { field: Field; value: CellValue; width: number }): ReactNode {
  const text = groupText(field, value)
  if (text !== null) return <span className={value === null ? styles.empty : styles.text}>{text}</span>
  const { View, type } = CELLS[field.type]
  const { type: shown, isList } = shownType(field)
  const isBox = shown.storage === 'boolean' && !isList
  return (
    <>
      <View
        value={value}
        field={field}
        options={completeOptions(type, field.options)}
        variant="grid"
        lines={1}
        width={Math.max(60, width)}
      />
      {isBox && <span className={styles.text}>{groupName(field, value)}</span>}
    </>
  )
}
