import { ArrowDown, ArrowUp, Copy, EllipsisVertical, FolderPlus, Plus, X } from 'lucide-react'
import {
  type FilterGroup as Group,
  isComplete,
  isGroup,
  MAX_DEPTH,
} from '../../../../src/core/filters/index.ts'
import type { Field, Person } from '../../../../src/core/model.ts'
import { t } from '../../../i18n.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { type MenuItem, openMenu } from '../../../ui/menu.tsx'
import toolbar from '../controls/toolbar.module.css'
import { ConditionEditor } from './condition-editor.tsx'
import { copyAt, moveAt, newCondition, type Path, replaceAt } from './filter-edit.ts'
import styles from './filter-menu.module.css'

export interface FilterGroupProps {
  group: Group
  /** Where the group stands in `root`. */
  path: Path
  root: Group
  fields: readonly Field[]
  people: readonly Person[]
  onChange: (root: Group) => void
}

/** Conditions joined by one word, and groups of such within. */
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
        {path.length === 0 ? t('Filter') : t('Group of conditions')}
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
                isActive={isActive(child, fields)}
                onChange={(next) => set(at, next)}
              />
            )}
            <IconButton
              icon={EllipsisVertical}
              size="small"
              label={isGroup(child) ? t('Group options') : t('Condition options')}
              aria-haspopup="menu"
              onClick={(event) =>
                openMenu(
                  event.currentTarget,
                  partMenu(root, at, group.children.length, onChange),
                  t('Filter'),
                )
              }
            />
            <IconButton
              icon={X}
              size="small"
              label={isGroup(child) ? t('Remove group') : t('Remove condition')}
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
            {t('Add condition')}
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
              {t('Add group')}
            </Button>
          )}
        </div>
      )}
    </fieldset>
  )
}

/** What else can be done with one of the `count` parts of a group. */
function partMenu(root: Group, at: Path, count: number, onChange: (root: Group) => void): MenuItem[] {
  const index = at.at(-1) ?? 0
  const move = (label: string, icon: typeof ArrowUp, by: 1 | -1): MenuItem => ({
    kind: 'action',
    label,
    icon,
    run: () => onChange(moveAt(root, at, by)),
  })
  return [
    { kind: 'action', label: t('Duplicate'), icon: Copy, run: () => onChange(copyAt(root, at)) },
    ...(index > 0 ? [move(t('Move up'), ArrowUp, -1)] : []),
    ...(index < count - 1 ? [move(t('Move down'), ArrowDown, 1)] : []),
  ]
}

/** "where", then the group's word: chosen once, at the second line. */
function Joint({
  index,
  join,
  onChange,
}: {
  index: number
  join: Group['join']
  onChange: (join: Group['join']) => void
}) {
  if (index === 0) return <span className={styles.joint}>{t('where')}</span>
  if (index > 1) return <span className={styles.joint}>{join === 'and' ? t('and') : t('or')}</span>
  return (
    <select
      className={`${toolbar.select} ${styles.joint}`}
      aria-label={t('Match all or any conditions')}
      value={join}
      onChange={(event) => onChange(event.target.value === 'or' ? 'or' : 'and')}
    >
      <option value="and">{t('and')}</option>
      <option value="or">{t('or')}</option>
    </select>
  )
}

function isActive(condition: Parameters<typeof isComplete>[0], fields: readonly Field[]): boolean {
  const field = fields.find(({ id }) => id === condition.fieldId)
  return field !== undefined && isComplete(condition, field)
}
