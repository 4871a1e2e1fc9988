import { useVirtualizer } from '@tanstack/react-virtual'
import { Link2 } from 'lucide-react'
import { useMemo, useRef } from 'react'
import { similarCurrencies } from '../../../src/core/fields/currency-words.ts'
import {
  type DateFormat,
  formatDay,
  hasShortYear,
  parseDay,
  withOtherOrder,
} from '../../../src/core/fields/date-text.ts'
import { asRead, type DayOrder, type DayReading } from '../../../src/core/fields/day-reading.ts'
import { currencyOptions } from '../../../src/core/fields/detect-numbers.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { withoutTime } from '../../../src/core/fields/instant-text.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { plainDay, plainDigits } from '../../../src/core/fields/notations.ts'
import { type DecimalMark, parseNumber } from '../../../src/core/fields/number-text.ts'
import type { Analysis } from '../../../src/core/imports/analysis.ts'
import {
  countMisfits,
  createsRecords,
  type DraftColumn,
  type DraftLink,
  type DraftTarget,
  displayColumn,
  IMPORTABLE_TYPES,
  isMisfit,
  linksOf,
  notationOf,
  readsNumbers,
  refusedCurrencies,
  targetFields,
  withMark,
} from '../../../src/core/imports/draft.ts'
import type { Field } from '../../../src/core/model.ts'
import { CELLS } from '../../cells/index.ts'
import { direction, formatNumber } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import { ScrollRegion } from '../../ui/composite.tsx'
import { keyed } from '../../ui/keyed.ts'
import styles from './column-cards.module.css'
import type { Draft } from './use-drafts.ts'
import type { LinkTarget } from './use-links.ts'

/** Width of a card plus its gap, as in column-cards.module.css. */
const CARD_WIDTH = 196

interface ColumnCardsProps {
  draft: Draft
  analysis: Analysis
  /** Tables that columns can link to. */
  targets: LinkTarget[]
  onColumn: (index: number, patch: Partial<DraftColumn>) => void
  /** Makes the column at this position in the file the display field. */
  onDisplay: (index: number) => void
  onTickAll: (isOn: boolean) => void
}

/** Columns of the file side by side with their first values; renders only visible ones. */
export function ColumnCards({ draft, analysis, targets, onColumn, onDisplay, onTickAll }: ColumnCardsProps) {
  const { columns, target } = draft
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: columns.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => CARD_WIDTH,
    horizontal: true,
    overscan: 3,
    isRtl: direction() === 'rtl',
  })
  const on = columns.filter((column) => column.isOn).length
  const fields = targetFields(target)
  return (
    <section aria-label={m.imports_columns()}>
      <div className={styles.bar}>
        <span>{m.imports_importing_on_of_all_columns({ on, all: columns.length })}</span>
        {target.kind === 'new' && on > 0 && (
          <label className={styles.display}>
            {m.imports_display_field()}
            <select
              className={styles.type}
              data-tip={m.imports_field_names_records_links_cards()}
              value={displayColumn(columns, analysis)?.index}
              onChange={(event) => onDisplay(Number(event.target.value))}
            >
              {columns
                .filter(({ isOn, link }) => isOn && !link)
                .map(({ index, title }) => (
                  <option key={index} value={index}>
                    {title}
                  </option>
                ))}
            </select>
          </label>
        )}
        <Button size="small" variant="ghost" onClick={() => onTickAll(on < columns.length)}>
          {on < columns.length ? m.common_select_all() : m.imports_clear_all()}
        </Button>
      </div>
      {/* Focusable, so that the arrow keys scroll it. */}
      <ScrollRegion ref={scroller} className={styles.scroller} tabIndex={0}>
        <div className={styles.track} style={{ inlineSize: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const column = columns[index]
            if (!column) return null
            return (
              <div key={column.index} className={styles.place} style={{ insetInlineStart: start }}>
                <ColumnCard
                  column={column}
                  target={target}
                  fields={fields}
                  analysis={analysis}
                  targets={targets}
                  onChange={(patch) => onColumn(column.index, patch)}
                />
              </div>
            )
          })}
        </div>
      </ScrollRegion>
    </section>
  )
}

/** Values shown per column. */
const SHOWN = 10

interface ColumnCardProps {
  column: DraftColumn
  target: DraftTarget
  /** Fields to map to, when appending to a table. */
  fields: Field[]
  analysis: Analysis
  targets: LinkTarget[]
  onChange: (patch: Partial<DraftColumn>) => void
}

/** A column: included or not, title and type or target field, first values. */
function ColumnCard({ column, target, fields, analysis, targets, onChange }: ColumnCardProps) {
  const detected = analysis.fields[column.index]
  const name = detected?.title ?? column.title
  const misfits = useMemo(() => countMisfits(analysis, column, target), [analysis, column, target])
  const values = analysis.rows.slice(0, SHOWN).map((row) => row[column.index] ?? '')
  const notation = notationOf(analysis, column, target)
  const isAmbiguous = column.isOn && detected?.confidence.ambiguous === true && notation.dateFormat
  const hasBuddhistYears = column.isOn && detected?.isBuddhist === true && notation.dateFormat
  // Two digits do not tell the century.
  const hasShortYears =
    column.isOn && notation.dateFormat && values.some((value) => hasShortYear(plainDay(value)))
  const readFormat = isAmbiguous || hasBuddhistYears || (hasShortYears && notation.dateFormat)
  const isUnclearMark =
    column.isOn && detected?.confidence.unclearMark === true && readsNumbers(column, target)
  const onMark = (decimal: DecimalMark) => onChange(withMark(column, decimal, analysis, target))
  const code = String(column.options.code ?? '')
  const isUnclearAmount =
    column.isOn &&
    target.kind === 'new' &&
    detected?.confidence.ambiguous === true &&
    similarCurrencies(code).includes(String(detected.options.code))
  const field = fields.find(({ id }) => id === column.fieldId)
  const refused = refusedCurrencies(analysis, column, target)
  const isRefused = refused !== null && (misfits > 0 || detected?.currencies !== undefined)
  const refusedText =
    isRefused && m.imports_other_currency({ currencies: refused.currencies.join(', '), code: refused.code })
  const lostText =
    refusedText ||
    (field && linkOf(field)
      ? m.imports_no_matching_record_more_one()
      : m.imports_invalid_value_cell_stays_empty())
  const links = linksOf(analysis, column, target)
  const note =
    refusedText ||
    (misfits > 0
      ? m.imports_invalid_cells({ count: misfits })
      : noteOf(column, createsRecords(column, target), links))
  const isLong = refusedText !== false || (misfits === 0 && links !== null)
  return (
    <fieldset className={styles.card} data-off={!column.isOn || undefined} aria-label={name}>
      <div className={styles.head}>
        <div className={styles.line}>
          <input
            type="checkbox"
            aria-label={m.imports_import_name({ name })}
            checked={column.isOn}
            disabled={target.kind === 'append' && column.fieldId === null}
            onChange={(event) => onChange({ isOn: event.target.checked })}
          />
          {target.kind === 'new' ? (
            <input
              className={styles.title}
              aria-label={m.imports_field_name()}
              aria-invalid={(column.isOn && column.title.trim() === '') || undefined}
              dir="auto"
              maxLength={255}
              value={column.title}
              disabled={!column.isOn}
              onChange={(event) => onChange({ title: event.target.value })}
            />
          ) : (
            <span className={styles.source} dir="auto" data-tip={name} data-tip-clipped>
              {name}
            </span>
          )}
        </div>
        {target.kind === 'new' || column.link ? (
          <TypePicker column={column} name={name} targets={targets} onChange={onChange} />
        ) : (
          <select
            className={styles.type}
            aria-label={m.imports_field_for_name({ name })}
            value={column.fieldId ?? ''}
            onChange={(event) => {
              const fieldId = event.target.value || null
              onChange({ fieldId, isOn: fieldId !== null })
            }}
          >
            <option value="">{m.imports_dont_import()}</option>
            {fields.map((field) => (
              <option key={field.id} value={field.id}>
                {field.required ? `${field.title} *` : field.title}
              </option>
            ))}
          </select>
        )}
        {column.isOn && column.link?.by === 'name' && (
          <MissingPicker
            name={column.title}
            value={column.link.missing}
            onChange={(missing) => column.link && onChange({ link: { ...column.link, missing } })}
          />
        )}
        {column.isOn && field && linkOf(field) && !column.link && (
          <MissingPicker
            name={field.title}
            value={column.creates ? 'create' : 'report'}
            onChange={(missing) => onChange({ creates: missing === 'create' })}
          />
        )}
        {isAmbiguous && (
          <DateOrder
            name={name}
            format={isAmbiguous}
            orders={detected.orders}
            isYearFirst={notation.reading.yearFirst === true}
            onChange={(format, yearFirst) =>
              onChange({
                yearFirst,
                ...(target.kind === 'new'
                  ? { options: { ...column.options, format } }
                  : { dateFormat: format }),
              })
            }
          />
        )}
        {hasBuddhistYears && (
          <select
            className={styles.type}
            aria-label={m.imports_years_of({ name })}
            value={notation.reading.isBuddhist ? 'buddhist' : 'common'}
            onChange={(event) => onChange({ isBuddhist: event.target.value === 'buddhist' })}
          >
            <option value="buddhist">{m.imports_years_buddhist()}</option>
            <option value="common">{m.imports_years_common()}</option>
          </select>
        )}
        {isUnclearMark && (
          <select
            className={styles.type}
            aria-label={m.imports_decimal_of({ name })}
            value={notation.decimal}
            onChange={(event) => onMark(event.target.value === ',' ? ',' : '.')}
          >
            <option value=".">{m.imports_decimal_point_example()}</option>
            <option value=",">{m.imports_decimal_comma_example()}</option>
          </select>
        )}
        {isUnclearAmount && (
          <CurrencyPicker
            name={name}
            code={code}
            codes={similarCurrencies(code)}
            onChange={(next) => onChange({ options: { ...column.options, ...currencyOptions(next) } })}
          />
        )}
        <p
          className={styles.note}
          title={isLong ? note : undefined}
          data-long={isLong || undefined}
          data-tone={misfits > 0 || refusedText ? 'danger' : undefined}
        >
          {note}
        </p>
      </div>
      <ul className={styles.values}>
        {keyed(values).map(({ key, item: value }) => {
          const isLost = column.isOn && isMisfit(value, column, target, notation)
          return (
            <li
              key={key}
              dir="auto"
              data-misfit={isLost || undefined}
              data-tip={isLost ? lostText : value.slice(0, 300)}
              data-tip-clipped={isLost ? undefined : ''}
            >
              {value.slice(0, 200)}
              {readFormat && !isLost && (
                <span className={styles.read}>{readAs(value, readFormat, notation.reading)}</span>
              )}
              {isUnclearMark && !isLost && value.trim() !== '' && (
                <span className={styles.read}>{readAsNumber(value, notation.decimal)}</span>
              )}
            </li>
          )
        })}
      </ul>
    </fieldset>
  )
}

/** How many of the values a link finds, how many of the first cells name new records, or what becomes of the links of a workbook. */
function noteOf(
  { isOn, link, missing }: DraftColumn,
  creates: boolean,
  links: ReturnType<typeof linksOf>,
): string {
  if (links?.areImported) return m.imports_cell_links_imported({ count: links.count })
  if (links && !link) return m.imports_cell_links_left_out({ count: links.count })
  if (creates && missing && missing.size > 0) return m.imports_link_new({ count: missing.size })
  if (!isOn || !link?.found) return ' '
  return m.imports_link_found({ found: formatNumber(link.found.count), count: link.found.of })
}

const keyOfTarget = ({ to }: LinkTarget): string =>
  'draft' in to ? `draft ${to.draft}` : `table ${to.tableId}`

interface PickerProps {
  column: DraftColumn
  onChange: (patch: Partial<DraftColumn>) => void
}

/** The type of a new field, or the table that it links to. */
function TypePicker({
  column,
  name,
  targets,
  onChange,
}: PickerProps & { name: string; targets: LinkTarget[] }) {
  const { link, type, isOn } = column
  const Icon = link ? Link2 : CELLS[type].Icon
  const label = m.imports_type_of_name({ name })
  if (link?.by === 'row') {
    return (
      <p className={styles.line}>
        <Icon size={15} />
        <bdi className={styles.source}>{m.imports_link_to({ table: link.title })}</bdi>
      </p>
    )
  }
  function choose(value: string): void {
    const target = targets.find((each) => keyOfTarget(each) === value)
    if (!target) onChange({ type: value as FieldTypeName, link: null })
    else onChange({ link: { ...target, by: 'name', missing: 'create', found: null } })
  }
  return (
    <label className={styles.line}>
      <Icon size={15} />
      <span className="visually-hidden">{label}</span>
      <select
        className={styles.type}
        value={link ? keyOfTarget(link) : type}
        disabled={!isOn}
        onChange={(event) => choose(event.target.value)}
      >
        {targets.length > 0 && (
          <optgroup label={m.imports_links()}>
            {targets.map((target) => (
              <option key={keyOfTarget(target)} value={keyOfTarget(target)}>
                {m.imports_link_to({ table: target.title })}
              </option>
            ))}
          </optgroup>
        )}
        <optgroup label={m.imports_values()}>
          {IMPORTABLE_TYPES.map((each) => (
            <option key={each} value={each}>
              {fieldType(each).label()}
            </option>
          ))}
        </optgroup>
      </select>
    </label>
  )
}

/** What becomes of names that no record has. */
function MissingPicker({
  name,
  value,
  onChange,
}: {
  name: string
  value: DraftLink['missing']
  onChange: (missing: DraftLink['missing']) => void
}) {
  return (
    <select
      className={styles.type}
      aria-label={m.imports_link_missing({ name })}
      value={value}
      onChange={(event) => onChange(event.target.value === 'create' ? 'create' : 'report')}
    >
      <option value="create">{m.imports_link_missing_create()}</option>
      <option value="report">{m.imports_link_missing_report()}</option>
    </select>
  )
}

/** The currency of a column whose amounts have a word of several, such as `kr`. */
function CurrencyPicker({
  name,
  code,
  codes,
  onChange,
}: {
  name: string
  code: string
  codes: readonly string[]
  onChange: (code: string) => void
}) {
  return (
    <select
      className={styles.type}
      aria-label={m.imports_currency_of({ name })}
      value={code}
      onChange={(event) => onChange(event.target.value)}
    >
      {codes.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  )
}

interface DateOrderProps {
  name: string
  format: DateFormat
  orders?: DayOrder[] | undefined
  isYearFirst: boolean
  onChange: (format: DateFormat, isYearFirst: boolean) => void
}

const ORDERS: Record<DayOrder, { label: () => string; begins: string }> = {
  day: { label: m.imports_day_first, begins: 'DD' },
  month: { label: m.imports_month_first, begins: 'MM' },
  year: { label: m.imports_year_first, begins: 'YYYY' },
}

/** The order of the parts in a column whose dates do not tell it. */
function DateOrder({ name, format, orders = ['day', 'month'], isYearFirst, onChange }: DateOrderProps) {
  const other = withOtherOrder(format)
  if (other === null && !orders.includes('year')) return null
  const known = [format, ...(other ? [other] : []), ...SLASHED]
  const formatOf = (order: DayOrder) => known.find((each) => each.startsWith(ORDERS[order].begins)) ?? format
  const chosen = isYearFirst ? 'year' : format.startsWith('MM') ? 'month' : 'day'
  return (
    <select
      className={styles.type}
      aria-label={m.imports_date_order({ name })}
      value={chosen}
      onChange={(event) => {
        const order = event.target.value as DayOrder
        onChange(formatOf(order), order === 'year')
      }}
    >
      {(['day', 'month', 'year'] as const)
        .filter((order) => orders.includes(order))
        .map((order) => (
          <option key={order} value={order}>
            {ORDERS[order].label()}
          </option>
        ))}
    </select>
  )
}

/** Formats for an order that the detected one is not. */
const SLASHED: readonly DateFormat[] = ['DD/MM/YYYY', 'MM/DD/YYYY', 'YYYY/MM/DD']
/** The number that an ambiguous text is read as. */
function readAsNumber(text: string, decimal: DecimalMark): string {
  const number = parseNumber(plainDigits(text, decimal), decimal)
  return number === null ? '' : formatNumber(number)
}

/** The day that an ambiguous text is read as, with the name of its month. */
function readAs(text: string, format: DateFormat, reading: DayReading): string {
  const day = parseDay(withoutTime(asRead(plainDay(text), reading)), format)
  return day === null ? '' : formatDay(day, 'DD MMM YYYY')
}
