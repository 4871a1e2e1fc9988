import { Check, ChevronDown } from 'lucide-react'
import { type ComponentType, type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react'
import type { FieldOptions } from '../../../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import type { Field, Table } from '../../../../src/core/model.ts'
import { m } from '../../../messages.gen.ts'
import { Option } from '../../../ui/composite.tsx'
import { matches } from '../../../ui/matches.ts'
import { Popover } from '../../../ui/overlays.ts'
import { SearchInput } from '../../../ui/search-input.tsx'
import toolbar from '../../views/controls/toolbar.module.css'
import editor from '../field-editor.module.css'
import styles from './options.module.css'

/** Props of the options editor of a type; `options` are valid for its schema. */
export interface OptionsProps {
  options: FieldOptions
  onChange: (options: FieldOptions) => void
}

/** Props for a type whose options name other fields or tables. */
export interface FieldOptionsProps extends OptionsProps {
  table: Pick<Table, 'id' | 'baseId'>
  /** Null while the field is being created. */
  field: Field | null
  /** True when an existing field is converted to this type. */
  isConverting?: boolean
  /** Switches the field editor to another type, e.g. to create the link that a lookup needs first. */
  chooseType: (type: FieldTypeName) => void
  /** Edits the options of another type: the format of a formula's result. */
  OptionsOfType: ComponentType<OptionsOfTypeProps>
}

export interface OptionsOfTypeProps extends Omit<FieldOptionsProps, 'OptionsOfType'> {
  type: FieldTypeName
}

/** A labelled select. */
export function Choice<T extends string | number>(props: {
  label: string
  value: T
  values: readonly { value: T; label: string }[]
  onChange: (value: T) => void
}) {
  const { label, value, values, onChange } = props
  const id = useId()
  return (
    <div className={styles.line}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className={`${toolbar.select} ${styles.control}`}
        value={String(value)}
        onChange={(event) => {
          const found = values.find((one) => String(one.value) === event.target.value)
          if (found) onChange(found.value)
        }}
      >
        {values.map((one) => (
          <option key={one.value} value={String(one.value)}>
            {one.label}
          </option>
        ))}
      </select>
    </div>
  )
}

/** Options editor with one checkbox, for the boolean option `key`. */
export const tickOption =
  (key: string, label: () => string) =>
  ({ options, onChange }: OptionsProps) => (
    <Tick
      label={label()}
      checked={options[key] === true}
      onChange={(checked) => onChange({ ...options, [key]: checked })}
    />
  )

/** A labelled checkbox. */
export function Tick(props: { label: ReactNode; checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <label className={editor.check}>
      <input
        type="checkbox"
        checked={props.checked}
        onChange={(event) => props.onChange(event.target.checked)}
      />
      {props.label}
    </label>
  )
}

interface ColorPickerProps {
  colors: readonly string[]
  value: string
  label: string
  onChange: (color: string) => void
}

/** A colour swatch that opens a palette. */
export function ColorPicker({ colors, value, label, onChange }: ColorPickerProps) {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  return (
    <>
      <button
        type="button"
        className={styles.swatch}
        style={{ background: value }}
        aria-label={label}
        aria-haspopup="dialog"
        aria-expanded={anchor !== null}
        onClick={(event) => setAnchor(anchor ? null : event.currentTarget)}
      />
      {anchor && (
        <Popover anchor={anchor} onClose={() => setAnchor(null)} label={label} className={styles.swatches}>
          {colors.map((color, index) => (
            <button
              key={color}
              type="button"
              className={styles.swatch}
              style={{ background: color }}
              aria-label={m.common_colour_number({ n: index + 1 })}
              aria-pressed={color === value}
              onClick={() => {
                onChange(color)
                setAnchor(null)
              }}
            >
              {color === value && <Check size={13} aria-hidden />}
            </button>
          ))}
        </Popover>
      )}
    </>
  )
}

/** An item of `SearchChoice`. */
interface SearchedLine {
  value: string
  label: string
  icon?: ReactNode
}

interface SearchChoiceProps {
  label: string
  value: string
  lines: readonly SearchedLine[]
  /** Shown while nothing is chosen. */
  placeholder: string
  onChange: (value: string) => void
}

/** Limit of rendered items. */
const MAX_SHOWN = 200

/** A labelled, searchable select for long lists such as tables and fields. */
export function SearchChoice({ label, value, lines, placeholder, onChange }: SearchChoiceProps) {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const chosen = lines.find((line) => line.value === value)
  const all = text.trim() === '' ? lines : lines.filter((line) => matches(line.label, text))
  const found = all.slice(0, MAX_SHOWN)
  const active = found[Math.min(at, found.length - 1)]

  function choose(line: SearchedLine | undefined) {
    if (!line) return
    setAnchor(null)
    onChange(line.value)
    button.current?.focus()
  }

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt(Math.max(0, Math.min(found.length - 1, Math.min(at, found.length - 1) + step)))
    } else if (event.key === 'Enter') {
      // Enter must not submit the surrounding editor.
      event.preventDefault()
      event.stopPropagation()
      choose(active)
    }
  }

  return (
    <div className={styles.line}>
      <label htmlFor={id}>{label}</label>
      <button
        ref={button}
        id={id}
        type="button"
        className={`${toolbar.select} ${styles.control} ${styles.searched}`}
        aria-haspopup="listbox"
        aria-expanded={anchor !== null}
        onClick={(event) => {
          setText('')
          setAt(
            Math.max(
              0,
              lines.findIndex((line) => line.value === value),
            ),
          )
          setAnchor(anchor ? null : event.currentTarget)
        }}
      >
        {chosen?.icon}
        <span className={styles.chosen} data-empty={chosen ? undefined : true} dir="auto">
          {chosen?.label ?? placeholder}
        </span>
        <ChevronDown size={13} aria-hidden />
      </button>
      {anchor && (
        <Popover anchor={anchor} onClose={() => setAnchor(null)} className={styles.searchBox}>
          <SearchInput
            label={label}
            placeholder={m.common_search()}
            role="combobox"
            aria-expanded
            aria-controls={`${id}-list`}
            aria-activedescendant={active ? `${id}-${active.value}` : undefined}
            data-autofocus
            value={text}
            onSearch={(next) => {
              setText(next)
              setAt(0)
            }}
            onKeyDown={onKeyDown}
          />
          <div id={`${id}-list`} role="listbox" aria-label={label} className={styles.searchList}>
            {found.map((line) => (
              <Option
                key={line.value}
                id={`${id}-${line.value}`}
                isActive={line === active}
                aria-selected={line.value === value}
                data-active={line === active || undefined}
                className={styles.searchLine}
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => choose(line)}
              >
                {line.icon}
                <span className={styles.chosen} dir="auto">
                  {line.label}
                </span>
              </Option>
            ))}
            {found.length === 0 && <p className={toolbar.hint}>{m.schema_no_results()}</p>}
            {all.length > found.length && (
              <p className={toolbar.hint}>{m.common_more_count({ count: all.length - found.length })}</p>
            )}
          </div>
        </Popover>
      )}
    </div>
  )
}
