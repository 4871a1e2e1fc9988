import { Check } from 'lucide-react'
import { type KeyboardEvent, useId, useState } from 'react'
import type { FieldGroup } from '../../../src/core/fields/field-type.ts'
import { FIELD_TYPES, type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import { isLinkType, numbersRecords } from '../../../src/core/fields/traits.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import { CELLS } from '../../cells/index.ts'
import { m } from '../../messages.gen.ts'
import { trpc } from '../../trpc.ts'
import { focusOnMount, Option } from '../../ui/composite.tsx'
import { useLayer } from '../../ui/layers.ts'
import { matches } from '../../ui/matches.ts'
import { SearchInput } from '../../ui/search-input.tsx'
import toolbar from '../views/controls/toolbar.module.css'
import styles from './type-list.module.css'

const GROUPS: FieldGroup[] = [
  'text',
  'number',
  'choice',
  'date',
  'people',
  'file',
  'relation',
  'computed',
  'system',
]

const groupLabel = (group: FieldGroup): string =>
  ({
    text: m.schema_text(),
    number: m.schema_numbers(),
    choice: m.schema_choices(),
    date: m.schema_dates(),
    people: m.schema_people(),
    file: m.common_files(),
    relation: m.schema_relations(),
    computed: m.schema_computed(),
    system: m.schema_system(),
  })[group]

/** Selectable types, by group. */
const OFFERED = GROUPS.flatMap((group) =>
  FIELD_TYPES.map((type) => fieldType(type.name)).filter(
    (type) => type.group === group && !type.internal && !type.forPrograms,
  ),
)

/** Types that match a search; labels that start with it come first. */
function findTypes(text: string): typeof OFFERED {
  const wanted = text.trim().toLocaleLowerCase()
  const rank = (label: string) => (label.startsWith(wanted) ? 0 : label.includes(wanted) ? 1 : 2)
  return OFFERED.filter((type) => matches(`${type.label()} ${type.help()} ${type.name}`, text))
    .map((type) => ({ type, rank: wanted === '' ? 0 : rank(type.label().toLocaleLowerCase()) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ type }) => type)
}

interface TypeListProps {
  value: FieldTypeName
  /** Types that the table does not support; the list names the reason. */
  withheld?: WithheldTypes | null
  /** Initial search text. */
  search?: string
  onChoose: (type: FieldTypeName) => void
  /** Closes the list without a choice. */
  onClose: () => void
}

/** Searchable list of all field types with help and example. */
export function TypeList({ value, withheld = null, search = '', onChoose, onClose }: TypeListProps) {
  useLayer(onClose)
  const [text, setText] = useState(search)
  const found = findTypes(text).filter((type) => type.name === value || !withheld?.has(type.name))
  const [activeName, setActive] = useState<string>(search === '' ? value : '')
  const active = found.find((type) => type.name === activeName) ?? found[0]
  const id = useId()

  function onKeyDown(event: KeyboardEvent) {
    const at = active ? found.indexOf(active) : -1
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setActive(found[(at + step + found.length) % found.length]?.name ?? value)
    } else if (event.key === 'Enter' && active && !event.ctrlKey && !event.metaKey) {
      event.preventDefault()
      onChoose(active.name as FieldTypeName)
    }
  }

  return (
    <div className={styles.box}>
      <SearchInput
        label={m.schema_find_a_type()}
        role="combobox"
        aria-expanded
        aria-controls={id}
        aria-activedescendant={active ? `${id}-${active.name}` : undefined}
        ref={focusOnMount}
        value={text}
        onSearch={(next) => {
          setText(next)
          // Activate the best match of the new search.
          setActive(next.trim() === '' ? value : '')
        }}
        onKeyDown={onKeyDown}
      />
      <div id={id} role="listbox" aria-label={m.schema_field_types()} className={styles.list}>
        {found.map((type, index) => {
          const { Icon } = CELLS[type.name as FieldTypeName]
          const startsGroup = text.trim() === '' && found[index - 1]?.group !== type.group
          return (
            <div key={type.name} role="presentation">
              {startsGroup && <div className={styles.group}>{groupLabel(type.group)}</div>}
              <Option
                isActive={type === active}
                id={`${id}-${type.name}`}
                aria-selected={type.name === value}
                data-active={type === active || undefined}
                data-testid="type-option"
                className={styles.option}
                onPointerMove={() => setActive(type.name)}
                onClick={() => onChoose(type.name as FieldTypeName)}
              >
                <Icon size={15} aria-hidden />
                <span className={styles.words}>
                  <span>{type.label()}</span>
                  <small className={styles.help}>{type.help()}</small>
                </span>
                {type.name === value ? (
                  <Check size={14} />
                ) : (
                  // Left to right, or right-to-left pages would show +49 30 901820 reversed.
                  <span className={styles.example} dir="ltr">
                    {type.example.split('\n')[0]}
                  </span>
                )}
              </Option>
            </div>
          )
        })}
        {found.length === 0 && <p className={toolbar.hint}>{m.schema_no_matching_field_types()}</p>}
        {withheld?.reason && <p className={toolbar.hint}>{withheld.reason}</p>}
      </div>
    </div>
  )
}

/** Types that a field cannot have; `reason` is set if the table is the cause. */
interface WithheldTypes {
  has: (type: string) => boolean
  reason: string | null
}

/**
 * Types that a new field cannot have, or that `field` cannot be converted to. Tables of connected databases support
 * neither Sheaf's links nor types that need system columns.
 */
export function useWithheldTypes(
  { id, baseId }: Pick<Table, 'id' | 'baseId'>,
  field: Field | null,
): WithheldTypes {
  const schema = trpc.schema.table.useQuery({ tableId: id }, { staleTime: 60_000 })
  const sources = trpc.sources.list.useQuery({ baseId }, { staleTime: 60_000 })
  const source = sources.data?.find((one) => one.id === schema.data?.table.sourceId)
  const isForeign = source !== undefined && !source.isOwn
  const lacks = (type: string) =>
    isLinkType({ type }) || numbersRecords({ type }) || fieldType(type).systemColumn !== undefined
  return {
    has: (type) =>
      (isForeign && (lacks(type) || isOther(field, type))) || (field !== null && !canBecome(field, type)),
    reason: isForeign ? m.schema_types_withheld_in_connected_table() : null,
  }
}

/** A formula converted to values would need a new column in the connected database. */
const isOther = (field: Field | null, type: string): boolean =>
  field !== null && fieldType(field.type).computed === 'formula' && field.type !== type

/** Whether the field's values can be converted to another type. */
function canBecome(field: Pick<Field, 'type' | 'options'>, type: string): boolean {
  if (field.type === type) return true
  const link = linkOf(field)
  const isLink = fieldType(type).computed === 'link'
  // Only links to several records have two display types.
  if (link) return isLink && !isSingleLink(link)
  const hasValues = (name: FieldTypeName | string) => {
    const { readOnly, systemColumn, internal, computed } = fieldType(name)
    return !readOnly && !systemColumn && !internal && !computed
  }
  // The current results become stored values.
  if (fieldType(field.type).computed === 'formula') return hasValues(type)
  return (numbersRecords(field) || hasValues(field.type)) && (isLink || hasValues(type))
}
