import { ChevronDown } from 'lucide-react'
import { useId, useState } from 'react'
import { shownType } from '../../../../src/core/fields/field.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { fieldType, readOptions } from '../../../../src/core/fields/index.ts'
import {
  type Condition,
  DATE_OPERANDS,
  isWithinOperand,
  operandNeeds,
} from '../../../../src/core/filters/index.ts'
import type { Field, Person } from '../../../../src/core/model.ts'
import { m } from '../../../messages.gen.ts'
import { Popover } from '../../../ui/overlays.ts'
import { SearchInput } from '../../../ui/search-input.tsx'
import toolbar from '../controls/toolbar.module.css'
import { DayInput } from './day-input.tsx'
import { operandLabel } from './describe-condition.ts'
import { arityOf, setOfField, withOperand } from './filter-edit.ts'
import styles from './filter-menu.module.css'

interface ConditionValueProps {
  condition: Condition
  field: Field
  people: readonly Person[]
  onChange: (condition: Condition) => void
}

/** The value input of a condition, according to field type and operator. */
export function ConditionValue({ condition, field, people, onChange }: ConditionValueProps) {
  const set = setOfField(field)
  const arity = arityOf(condition.operator, set)
  const setValue = (value: Condition['value']) => onChange({ ...condition, value })
  const choices = choicesOf(field, people)
  if (arity === 'none') return null
  if (arity === 'date') return <DateValue condition={condition} field={field} onChange={onChange} />
  if (choices && condition.operator !== 'like' && condition.operator !== 'nlike') {
    return (
      <ChoicePicker
        choices={choices}
        several={arity === 'many'}
        value={listOf(condition.value)}
        onChange={(values) => setValue(arity === 'many' ? values : (values[0] ?? null))}
      />
    )
  }
  if (arity === 'two') {
    const [low = null, high = null] = Array.isArray(condition.value) ? condition.value : []
    return (
      <span className={toolbar.row}>
        <TypedInput
          field={field}
          label={m.common_from()}
          value={low}
          onChange={(value) => setValue([value, high])}
        />
        <span>{m.views_and()}</span>
        <TypedInput
          field={field}
          label={m.views_to()}
          value={high}
          onChange={(value) => setValue([low, value])}
        />
      </span>
    )
  }
  const value = Array.isArray(condition.value) ? condition.value.join(', ') : condition.value
  return (
    <TypedInput
      field={field}
      label={m.views_value()}
      value={value}
      asText={set === 'text' || condition.operator === 'like' || condition.operator === 'nlike'}
      onChange={setValue}
    />
  )
}

/** The type of a condition's value; links are compared by their count. */
function comparedType(field: Field): Pick<ReturnType<typeof shownType>, 'type' | 'options'> {
  if (setOfField(field) === 'links') return { type: fieldType('Number'), options: readOptions('Number', {}) }
  return shownType(field)
}

interface TypedInputProps {
  field: Field
  label: string
  value: CellValue
  /** Compares as text, regardless of the field type. */
  asText?: boolean
  onChange: (value: CellValue) => void
}

/** Input for a value of the field. Invalid text stays, marked, and has no effect. */
function TypedInput({ field, label, value, asText = false, onChange }: TypedInputProps) {
  const { type, options } = comparedType(field)
  const shown = (of: CellValue): string =>
    typeof of === 'string' || of === null ? (of ?? '') : type.format(of, options)
  const [text, setText] = useState(() => shown(value))
  const [told, setTold] = useState(value)
  // A value not typed here: a row above was removed, so this is another condition.
  if (told !== value) {
    setTold(value)
    setText(shown(value))
  }
  const read = (typed: string): CellValue => (asText ? typed || null : type.parse(typed, options))
  const isUnfit = text.trim() !== '' && read(text) === null
  return (
    <input
      className={`${toolbar.input} ${styles.value}`}
      aria-label={label}
      aria-invalid={isUnfit || undefined}
      data-tip={isUnfit ? m.views_invalid_for_this_field() : undefined}
      placeholder={asText ? m.views_enter_a_value() : type.example}
      dir="auto"
      value={text}
      onChange={(event) => {
        const next = read(event.target.value)
        setText(event.target.value)
        setTold(next)
        onChange(next)
      }}
    />
  )
}

function DateValue({
  condition,
  field,
  onChange,
}: Pick<ConditionValueProps, 'condition' | 'field' | 'onChange'>) {
  const operand = condition.operand ?? 'exactDate'
  const isWithin = condition.operator === 'isWithin'
  const needs = operandNeeds(operand)
  const value = Array.isArray(condition.value) ? null : condition.value
  return (
    <span className={toolbar.row}>
      {needs === 'days' && (
        <input
          type="number"
          min={0}
          max={100_000}
          className={`${toolbar.input} ${styles.days}`}
          aria-label={m.views_number_of_days()}
          value={value === null ? '' : String(value)}
          onChange={(event) => {
            const days = event.target.valueAsNumber
            onChange({ ...condition, value: Number.isInteger(days) && days >= 0 ? days : null })
          }}
        />
      )}
      <select
        className={toolbar.select}
        aria-label={m.views_compared_with()}
        value={operand}
        onChange={(event) => {
          const next = DATE_OPERANDS.find((one) => one === event.target.value)
          if (next) onChange(withOperand(condition, next))
        }}
      >
        {DATE_OPERANDS.filter((one) => isWithinOperand(one) === isWithin).map((one) => (
          <option key={one} value={one}>
            {operandLabel(one)}
          </option>
        ))}
      </select>
      {needs === 'date' && (
        <DayInput
          field={field}
          day={typeof value === 'string' && value !== '' ? value.slice(0, 10) : null}
          onChange={(day) => onChange({ ...condition, value: day })}
        />
      )}
    </span>
  )
}

const listOf = (value: Condition['value']): string[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => one !== null && one !== '').map(String)

/** Choices for the value; null for typed values. */
function choicesOf(field: Field, people: readonly Person[]): PickedChoice[] | null {
  const set = setOfField(field)
  if (set === 'user') {
    const everyone = people.map((person) => ({ value: person.id, title: person.displayName || person.email }))
    return [{ value: '@me', title: m.views_me() }, ...everyone]
  }
  if (set !== 'select' && set !== 'multiSelect') return null
  const { choices } = shownType(field).options
  if (!Array.isArray(choices)) return []
  return choices.map(({ title, color }: { title: string; color: string }) => ({ value: title, title, color }))
}

/** One line that can be picked. */
interface PickedChoice {
  value: string
  title: string
  color?: string
}

interface ChoicePickerProps {
  choices: readonly PickedChoice[]
  several: boolean
  value: readonly string[]
  onChange: (value: string[]) => void
}

/** Longer lists show only their start until the user searches. */
const MAX_SHOWN = 200

/** Selects one or more items of a searchable list. */
function ChoicePicker({ choices, several, value, onChange }: ChoicePickerProps) {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const [text, setText] = useState('')
  const name = useId()
  const picked = value.map(
    (one) => choices.find((choice) => choice.value === one) ?? { value: one, title: one },
  )
  const wanted = text.trim().toLowerCase()
  const found = choices.filter((choice) => choice.title.toLowerCase().includes(wanted))

  function toggle(one: string) {
    if (several)
      return onChange(value.includes(one) ? value.filter((other) => other !== one) : [...value, one])
    onChange([one])
    setAnchor(null)
  }

  return (
    <>
      <button
        type="button"
        className={`${toolbar.select} ${styles.picker}`}
        aria-haspopup="dialog"
        aria-expanded={anchor !== null}
        aria-label={
          picked.length > 0 ? picked.map(({ title }) => title).join(', ') : m.views_choose_a_value()
        }
        onClick={(event) => setAnchor(anchor ? null : event.currentTarget)}
      >
        <span className={styles.picked} dir="auto">
          {picked.length === 0 && <span className={toolbar.hint}>{m.common_choose()}</span>}
          {picked.slice(0, 2).map((one) => (
            <Pill key={one.value} choice={one} />
          ))}
          {picked.length > 2 && <span className={toolbar.hint}>+{picked.length - 2}</span>}
        </span>
        <ChevronDown size={13} aria-hidden />
      </button>
      {anchor && (
        <Popover
          anchor={anchor}
          onClose={() => setAnchor(null)}
          label={m.views_choose_a_value()}
          className={styles.choices}
        >
          <SearchInput label={m.common_search()} data-autofocus value={text} onSearch={setText} />
          <div className={styles.choiceList}>
            {found.slice(0, MAX_SHOWN).map((choice) => (
              <label key={choice.value} className={styles.choice}>
                <input
                  type={several ? 'checkbox' : 'radio'}
                  name={name}
                  checked={value.includes(choice.value)}
                  onChange={() => toggle(choice.value)}
                />
                <Pill choice={choice} />
              </label>
            ))}
            {found.length === 0 && <p className={toolbar.hint}>{m.views_no_results()}</p>}
            {found.length > MAX_SHOWN && (
              <p className={toolbar.hint}>{m.common_more_count({ count: found.length - MAX_SHOWN })}</p>
            )}
          </div>
        </Popover>
      )}
    </>
  )
}

function Pill({ choice }: { choice: PickedChoice }) {
  return (
    <span className={choice.color ? styles.pill : undefined} style={{ background: choice.color }} dir="auto">
      {choice.title}
    </span>
  )
}
