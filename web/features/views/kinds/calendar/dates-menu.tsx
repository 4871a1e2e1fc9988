import { ArrowRight, CalendarOff, Plus, X } from 'lucide-react'
import { hasSingleChoice } from '../../../../../src/core/fields/traits.ts'
import type { Field } from '../../../../../src/core/model.ts'
import {
  CALENDAR_SCALES,
  type CalendarOptions,
  type CalendarRange,
  type CalendarScale,
  isDated,
} from '../../../../../src/core/views/index.ts'
import { m } from '../../../../messages.gen.ts'
import { Button, IconButton } from '../../../../ui/button.tsx'
import { EmptyState } from '../../../../ui/states.tsx'
import toolbar from '../../controls/toolbar.module.css'
import styles from './calendar.module.css'
import type { ChipStyle } from './event-chip.tsx'
import { rangeColor } from './event-look.ts'
import { scaleName } from './period-bar.tsx'

/** Limit of `calendarOptions`. */
const MAX_RANGES = 10

interface DatesMenuProps {
  fields: readonly Field[]
  options: CalendarOptions
  onChange: (patch: Partial<CalendarOptions>) => void
  /** True if the view has a colouring, which takes precedence. */
  isColored: boolean
}

/** Menu for the date fields and display options of a calendar. */
export function DatesMenu({ fields, options, onChange, isColored }: DatesMenuProps) {
  const { ranges, hideWeekends, colorFieldId, scale } = options
  const dated = fields.filter(isDated)
  const colouring = fields.filter((field) => hasSingleChoice(field) && !field.isSystem)
  const unused = dated.find((field) => !ranges.some((range) => range.fromFieldId === field.id)) ?? dated[0]
  const replace = (at: number, range: CalendarRange) => onChange({ ranges: ranges.toSpliced(at, 1, range) })
  return (
    <div className={styles.dates} data-testid="calendar-dates-menu">
      <ul className={styles.ranges}>
        {ranges.map((range, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same two fields may be chosen twice
          <li key={at}>
            <RangeLine
              range={range}
              dated={dated}
              color={rangeColor(at)}
              onChange={(next) => replace(at, next)}
              onRemove={ranges.length > 1 ? () => onChange({ ranges: ranges.toSpliced(at, 1) }) : undefined}
            />
          </li>
        ))}
      </ul>
      {unused && ranges.length < MAX_RANGES && (
        <Button
          size="small"
          variant="ghost"
          icon={Plus}
          onClick={() => onChange({ ranges: [...ranges, { fromFieldId: unused.id, toFieldId: null }] })}
        >
          {m.calendar_add_date_field()}
        </Button>
      )}
      <hr />
      <label className={styles.option}>
        <span>{m.calendar_colour_by()}</span>
        <select
          className={toolbar.select}
          disabled={isColored}
          data-tip={isColored ? m.calendar_view_colours_take_precedence() : undefined}
          value={colorFieldId ?? ''}
          onChange={({ target }) => onChange({ colorFieldId: target.value || null })}
        >
          <option value="">{m.calendar_date_field()}</option>
          {colouring.map((field) => (
            <option key={field.id} value={field.id}>
              {field.title}
            </option>
          ))}
        </select>
      </label>
      <label className={styles.option}>
        <span>{m.calendar_default_scale()}</span>
        <select
          className={toolbar.select}
          value={scale}
          onChange={({ target }) => onChange({ scale: target.value as CalendarScale })}
        >
          {CALENDAR_SCALES.map((one) => (
            <option key={one} value={one}>
              {scaleName(one)}
            </option>
          ))}
        </select>
      </label>
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={!hideWeekends}
          onChange={({ target }) => onChange({ hideWeekends: !target.checked })}
        />
        {m.calendar_show_weekends()}
      </label>
    </div>
  )
}

interface RangeLineProps {
  range: CalendarRange
  dated: readonly Field[]
  color: string
  onChange: (range: CalendarRange) => void
  onRemove?: () => void
}

function RangeLine({ range, dated, color, onChange, onRemove }: RangeLineProps) {
  const mark: ChipStyle = { '--event': color }
  const choices = dated.map((field) => (
    <option key={field.id} value={field.id}>
      {field.title}
    </option>
  ))
  return (
    <div className={styles.range} data-testid="calendar-range">
      <i className={styles.mark} style={mark} aria-hidden />
      <select
        className={toolbar.select}
        aria-label={m.common_from()}
        value={range.fromFieldId}
        onChange={({ target }) => onChange({ ...range, fromFieldId: target.value })}
      >
        {choices}
      </select>
      <ArrowRight size={14} className="flip-in-rtl" aria-hidden />
      <select
        className={toolbar.select}
        aria-label={m.calendar_to()}
        value={range.toFieldId ?? ''}
        onChange={({ target }) => onChange({ ...range, toFieldId: target.value || null })}
      >
        <option value="">{m.calendar_no_end_date()}</option>
        {choices}
      </select>
      {onRemove && (
        <IconButton icon={X} size="small" label={m.calendar_remove_date_field()} onClick={onRemove} />
      )}
    </div>
  )
}

/** Maximum fields offered as buttons; others are in the menu "Dates". */
const OFFERED = 4

interface NoDatesProps {
  fields: readonly Field[]
  onChoose: (fieldId: string) => void
  /** Absent without the right to add fields. */
  onAddField?: (anchor: Element) => void
}

/** Shown instead of a calendar without a date field: lets the user choose or add one. */
export function NoDates({ fields, onChoose, onAddField }: NoDatesProps) {
  const dated = fields.filter(isDated)
  // System fields, such as the creation time, come last.
  const offered = [...dated.filter((field) => !field.isSystem), ...dated.filter((field) => field.isSystem)]
  const hasOwn = dated.some((field) => !field.isSystem)
  return (
    <EmptyState
      icon={CalendarOff}
      title={hasOwn ? m.calendar_choose_a_date_field() : m.calendar_table_no_date_field()}
      text={hasOwn ? undefined : m.calendar_date_field_hint()}
    >
      {!hasOwn && onAddField && (
        <Button variant="primary" icon={Plus} onClick={(click) => onAddField(click.currentTarget)}>
          {m.calendar_add_a_date_field()}
        </Button>
      )}
      {offered.slice(0, OFFERED).map((field, at) => (
        <Button
          key={field.id}
          variant={hasOwn && at === 0 ? 'primary' : 'secondary'}
          onClick={() => onChoose(field.id)}
        >
          {field.title}
        </Button>
      ))}
    </EmptyState>
  )
}
