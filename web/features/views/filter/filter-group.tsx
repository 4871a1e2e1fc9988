import { ArrowDown, ArrowUp, Copy, EllipsisVertical, FolderPlus, Plus, X } from 'lucide-react'
import type { Condition } from '../../../../src/core/filters/index.ts'
import { type FilterGroup as Group, isGroup, MAX_DEPTH } from '../../../../src/core/filters/index.ts'
import type { Field, Person } from '../../../../src/core/model.ts'
import { m } from '../../../messages.gen.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { type MenuItem, openMenu } from '../../../ui/menu.tsx'
import toolbar from '../controls/toolbar.module.css'
import { ConditionValue } from './condition-value.tsx'
import {
  copyAt,
  isEffective,
  moveAt,
  newCondition,
  operatorChoices,
  type Path,
  replaceAt,
  withField,
  withOperator,
} from './filter-edit.ts'
import styles from './filter-menu.module.css'

export interface FilterGroupProps {
  group: Group
  /** Path of the group in `root`. */
  path: Path
  root: Group
  fields: readonly Field[]
  people: readonly Person[]
  onChange: (root: Group) => void
}

/** A group of conditions and nested groups. */
export function FilterGroup({ group, path, root, fields, people, onChange }: FilterGroupProps) {
  const set = (at: Path, next: Parameters<typeof replaceAt>[2]) => onChange(replaceAt(root, at, next))
  const add = (child: Group['children'][number]) => {
    const grown = { ...group, children: [...group.children, child] }
    if (path.length === 0) onChange(grown)
    else set(path, grown)
  }
  const setJoin = (join: Group['join']) =>
    path.length === 0 ? onChange({ ...group, join }) : set(path, { ...group, join })
  const [first] = fields

  return (
    <fieldset className={path.length === 0 ? styles.root : styles.group}>
      <legend className="visually-hidden">
        {path.length === 0 ? m.views_filter() : m.views_group_of_conditions()}
      </legend>
      {group.children.map((child, index) => {
        const at = [...path, index]
        const key = at.join('.')
        return (
          <div key={key} className={styles.line} data-testid="filter-line">
            <Joint index={index} join={group.join} onChange={setJoin} />
            {isGroup(child) ? (
              <FilterGroup
                group={child}
                path={at}
                root={root}
                fields={fields}
                people={people}
                onChange={onChange}
              />
            ) : (
              <ConditionEditor
                condition={child}
                fields={fields}
                people={people}
                isActive={isEffective(child, fields)}
                onChange={(next) => set(at, next)}
              />
            )}
            <IconButton
              icon={EllipsisVertical}
              size="small"
              label={isGroup(child) ? m.views_group_options() : m.views_condition_options()}
              aria-haspopup="menu"
              onClick={(event) =>
                openMenu(
                  event.currentTarget,
                  partMenu(root, at, group.children.length, onChange),
                  m.views_filter(),
                )
              }
            />
            <IconButton
              icon={X}
              size="small"
              label={isGroup(child) ? m.views_remove_group() : m.views_remove_condition()}
              onClick={() => set(at, null)}
            />
          </div>
        )
      })}
      {first && (
        <div className={toolbar.actions}>
          <Button
            size="small"
            variant="ghost"
            icon={Plus}
            data-autofocus={(path.length === 0 && group.children.length === 0) || undefined}
            onClick={() => add(newCondition(first))}
          >
            {m.views_add_condition()}
          </Button>
          {path.length < MAX_DEPTH - 1 && (
            <Button
              size="small"
              variant="ghost"
              icon={FolderPlus}
              onClick={() =>
                add({ join: group.join === 'and' ? 'or' : 'and', children: [newCondition(first)] })
              }
            >
              {m.views_add_group()}
            </Button>
          )}
        </div>
      )}
    </fieldset>
  )
}

/** Menu of one of the `count` conditions or groups in a group. */
function partMenu(root: Group, at: Path, count: number, onChange: (root: Group) => void): MenuItem[] {
  const index = at.at(-1) ?? 0
  const move = (label: string, icon: typeof ArrowUp, by: 1 | -1): MenuItem => ({
    kind: 'action',
    label,
    icon,
    run: () => onChange(moveAt(root, at, by)),
  })
  return [
    { kind: 'action', label: m.common_duplicate(), icon: Copy, run: () => onChange(copyAt(root, at)) },
    ...(index > 0 ? [move(m.views_move_up(), ArrowUp, -1)] : []),
    ...(index < count - 1 ? [move(m.views_move_down(), ArrowDown, 1)] : []),
  ]
}

/** “Where” in the first row, then the group's conjunction, selectable in the second row. */
function Joint({
  index,
  join,
  onChange,
}: {
  index: number
  join: Group['join']
  onChange: (join: Group['join']) => void
}) {
  if (index === 0) return <span className={styles.joint}>{m.views_where()}</span>
  if (index > 1) return <span className={styles.joint}>{join === 'and' ? m.views_and() : m.views_or()}</span>
  return (
    <select
      className={`${toolbar.select} ${styles.joint}`}
      aria-label={m.views_match_all_or_any_conditions()}
      value={join}
      onChange={(event) => onChange(event.target.value === 'or' ? 'or' : 'and')}
    >
      <option value="and">{m.views_and()}</option>
      <option value="or">{m.views_or()}</option>
    </select>
  )
}

interface ConditionEditorProps {
  condition: Condition
  fields: readonly Field[]
  people: readonly Person[]
  /** False without a value: shown greyed out, without effect. */
  isActive: boolean
  onChange: (condition: Condition) => void
}

/** One comparison: field, operator, value. */
export function ConditionEditor({ condition, fields, people, isActive, onChange }: ConditionEditorProps) {
  const field = fields.find(({ id }) => id === condition.fieldId)
  return (
    <div className={styles.condition} data-inactive={!isActive || undefined}>
      <select
        className={`${toolbar.select} ${styles.field}`}
        aria-label={m.common_field()}
        value={condition.fieldId}
        onChange={(event) => {
          const next = fields.find(({ id }) => id === event.target.value)
          if (next) onChange(withField(condition, next, field))
        }}
      >
        {!field && <option value={condition.fieldId}>{m.views_deleted_field()}</option>}
        {fields.map((one) => (
          <option key={one.id} value={one.id}>
            {one.title}
          </option>
        ))}
      </select>
      {field && (
        <>
          <select
            className={`${toolbar.select} ${styles.operator}`}
            aria-label={m.views_operator()}
            value={condition.operator}
            onChange={(event) => onChange(withOperator(condition, event.target.value, field))}
          >
            {operatorChoices(field, condition.operator).map(({ key, label }) => (
              <option key={key} value={key}>
                {label}
              </option>
            ))}
          </select>
          <ConditionValue
            // Remounts the input for another kind of value, to discard the old text.
            key={`${field.id} ${condition.operator}`}
            condition={condition}
            field={field}
            people={people}
            onChange={onChange}
          />
        </>
      )}
    </div>
  )
}
