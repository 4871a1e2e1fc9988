import { GripVertical, Plus, X } from 'lucide-react'
import { useState } from 'react'
import { filterSetOf } from '../../../../src/core/fields/field.ts'
import type { FilterSet } from '../../../../src/core/fields/field-type.ts'
import { type Field, MAX_GROUPS, type Sort } from '../../../../src/core/model.ts'
import { m } from '../../../messages.gen.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { focusOnMount } from '../../../ui/composite.tsx'
import { moveBefore, SortableList, useSortableItem } from '../../../ui/sortable.tsx'
import toolbar from '../controls/toolbar.module.css'
import { directionLabels } from '../filter/describe-condition.ts'
import styles from './sort-menu.module.css'

export interface SortMenuProps {
  /** Sortable fields in view order. */
  fields: readonly Field[]
  sorts: readonly Sort[]
  onChange: (sorts: Sort[]) => void
  /** Maximum number of entries. */
  max?: number
  /** Texts for uses other than sorting records. */
  words?: SortWords
  /** Picks the field for “Add” from the unused ones; null lets the user choose. Defaults to the first. */
  suggest?: (fields: readonly Field[]) => Field | null
}

/** Texts of the menu. */
export interface SortWords {
  /** Shown without entries. */
  none: string
  add: string
  remove: (field: string) => string
}

const sortWords = (): SortWords => ({
  none: m.views_no_sorts_records_manual_order(),
  add: m.views_add_sort(),
  remove: (field) => m.views_remove_sort_by_field({ field }),
})

/** Editor for a view's sorts, the primary one first. */
export function SortMenu({
  fields,
  sorts,
  onChange,
  max = Number.POSITIVE_INFINITY,
  words = sortWords(),
  suggest = ([first]) => first ?? null,
}: SortMenuProps) {
  const [isChoosing, setChoosing] = useState(false)
  const used = new Set(sorts.map((sort) => sort.fieldId))
  const left = sorts.length < max ? fields.filter((field) => !used.has(field.id)) : []
  const add = (fieldId: string) => {
    setChoosing(false)
    onChange([...sorts, { fieldId, direction: 'asc' }])
  }
  const replace = (index: number, sort: Sort) => onChange(sorts.toSpliced(index, 1, sort))
  const items = sorts.map((sort) => ({ ...sort, id: sort.fieldId }))

  return (
    <div className={styles.menu}>
      {sorts.length === 0 && <p className={toolbar.hint}>{words.none}</p>}
      <SortableList
        ids={items.map(({ id }) => id)}
        onMove={(id, before) =>
          onChange(moveBefore(items, id, before).map(({ fieldId, direction }) => ({ fieldId, direction })))
        }
      >
        {sorts.map((sort, index) => (
          <SortLine
            key={sort.fieldId}
            sort={sort}
            fields={fields.filter((field) => field.id === sort.fieldId || !used.has(field.id))}
            onChange={(changed) => replace(index, changed)}
            removeLabel={words.remove}
            onRemove={() => onChange(sorts.toSpliced(index, 1))}
          />
        ))}
      </SortableList>
      {isChoosing && left.length > 0 && (
        <div className={styles.line}>
          <select
            ref={focusOnMount}
            className={`${toolbar.select} ${styles.field}`}
            aria-label={m.common_field()}
            value=""
            onChange={(event) => add(event.target.value)}
          >
            <option value="" disabled>
              {m.views_choose_a_field()}
            </option>
            {left.map((one) => (
              <option key={one.id} value={one.id}>
                {one.title}
              </option>
            ))}
          </select>
          <IconButton icon={X} size="small" label={m.common_cancel()} onClick={() => setChoosing(false)} />
        </div>
      )}
      <div className={toolbar.actions}>
        <Button
          size="small"
          variant="ghost"
          icon={Plus}
          disabled={left.length === 0 || isChoosing}
          data-autofocus={sorts.length === 0 || undefined}
          onClick={() => {
            const field = suggest(left)
            if (field) add(field.id)
            else setChoosing(true)
          }}
        >
          {words.add}
        </Button>
        {sorts.length > 0 && (
          <Button size="small" variant="ghost" onClick={() => onChange([])}>
            {m.views_remove_all()}
          </Button>
        )}
      </div>
    </div>
  )
}

interface SortLineProps {
  sort: Sort
  fields: readonly Field[]
  onChange: (sort: Sort) => void
  removeLabel: (field: string) => string
  onRemove: () => void
}

function SortLine({ sort, fields, onChange, removeLabel, onRemove }: SortLineProps) {
  const { ref, style, listeners } = useSortableItem(sort.fieldId)
  const field = fields.find(({ id }) => id === sort.fieldId)
  if (!field) return null
  const labels = directionLabels(field)
  return (
    <div ref={ref} style={style} className={styles.line} data-testid="sort-line">
      <span className={toolbar.grip} {...listeners} data-tip={m.common_drag_to_move()}>
        <GripVertical size={14} aria-hidden />
      </span>
      <select
        className={`${toolbar.select} ${styles.field}`}
        aria-label={m.common_field()}
        value={sort.fieldId}
        onChange={(event) => onChange({ ...sort, fieldId: event.target.value })}
      >
        {fields.map((one) => (
          <option key={one.id} value={one.id}>
            {one.title}
          </option>
        ))}
      </select>
      <select
        className={toolbar.select}
        aria-label={m.views_direction()}
        value={sort.direction}
        onChange={(event) => onChange({ ...sort, direction: event.target.value === 'desc' ? 'desc' : 'asc' })}
      >
        <option value="asc">{labels.asc}</option>
        <option value="desc">{labels.desc}</option>
      </select>
      <IconButton icon={X} size="small" label={removeLabel(field.title)} onClick={onRemove} />
    </div>
  )
}

export interface GroupsMenuProps {
  /** Groupable fields in view order. */
  fields: readonly Field[]
  groups: readonly Sort[]
  onChange: (groups: Sort[]) => void
}

/** Editor for a view's grouping, the outermost field first. */
export function GroupsMenu({ fields, groups, onChange }: GroupsMenuProps) {
  return (
    <SortMenu
      fields={fields}
      sorts={groups}
      onChange={onChange}
      max={MAX_GROUPS}
      suggest={suggestGroup}
      words={{
        none: m.views_group_records_same_value(),
        add: m.views_add_group(),
        remove: (field) => m.views_remove_group_by_field({ field }),
      }}
    />
  )
}

/** Field types whose values many records share, the most suitable first; a text field would give one record per group. */
const GROUPING_WELL: readonly FilterSet[] = ['select', 'checkbox', 'user', 'multiSelect', 'date']

/** The most suitable field for grouping; null if none is. */
function suggestGroup(fields: readonly Field[]): Field | null {
  for (const set of GROUPING_WELL) {
    const field = fields.find((one) => filterSetOf(one) === set)
    if (field) return field
  }
  return null
}
