import { CSV_DELIMITERS, CSV_ENCODINGS, type CsvEncoding } from '../../../src/core/csv/format.ts'
import { m } from '../../messages.gen.ts'
import styles from './draft-view.module.css'
import type { Draft, Drafts } from './use-drafts.ts'

/** How the file is taken apart; each choice shows at once. */
export function FormatOptions({ draft, all }: { draft: Draft; all: Drafts }) {
  const format = draft.analysis?.format ?? {
    encoding: 'utf-8',
    delimiter: ',',
    header: true,
    quote: '"',
    guarded: false,
    decimal: '.',
    ...draft.chosen,
  }
  const isAmbiguous = draft.analysis?.fields.some(({ confidence }) => confidence.ambiguous) ?? false
  const delimiterNames: Record<string, string> = {
    ',': m.imports_comma(),
    ';': m.imports_semicolon(),
    '\t': m.imports_tab(),
    '|': m.imports_bar(),
  }
  return (
    <div className={styles.options}>
      <label className={styles.option}>
        <span>{m.imports_encoding()}</span>
        <select
          className={styles.select}
          value={format.encoding}
          onChange={(event) => all.choose(draft, { encoding: event.target.value as CsvEncoding })}
        >
          {CSV_ENCODINGS.map(({ name, label }) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label className={styles.option}>
        <span>{m.imports_separator()}</span>
        <select
          className={styles.select}
          value={format.delimiter}
          onChange={(event) => all.choose(draft, { delimiter: event.target.value })}
        >
          {CSV_DELIMITERS.map((delimiter) => (
            <option key={delimiter} value={delimiter}>
              {delimiterNames[delimiter]}
            </option>
          ))}
        </select>
      </label>
      <label className={styles.option}>
        <span>{m.imports_decimal_places()}</span>
        <select
          className={styles.select}
          value={format.decimal}
          onChange={(event) => all.choose(draft, { decimal: event.target.value === ',' ? ',' : '.' })}
        >
          <option value=".">{m.imports_decimal_point_example()}</option>
          <option value=",">{m.imports_decimal_comma_example()}</option>
        </select>
      </label>
      {(isAmbiguous || draft.monthFirst) && (
        <label className={styles.option}>
          <span>{m.imports_read_ambiguous_date_as()}</span>
          <select
            className={styles.select}
            value={draft.monthFirst ? 'month' : 'day'}
            onChange={(event) => all.chooseMonthFirst(draft, event.target.value === 'month')}
          >
            <option value="day">{m.imports_day_first_example()}</option>
            <option value="month">{m.imports_month_first_example()}</option>
          </select>
        </label>
      )}
      <label className={styles.option}>
        <input
          type="checkbox"
          checked={format.header}
          onChange={(event) => all.choose(draft, { header: event.target.checked })}
        />
        {m.imports_first_row_contains_field_names()}
      </label>
      {(format.guarded || draft.chosen.guarded !== undefined) && (
        <label className={styles.option} data-tip={m.imports_unescape_formulas_hint()}>
          <input
            type="checkbox"
            checked={format.guarded}
            onChange={(event) => all.choose(draft, { guarded: event.target.checked })}
          />
          {m.imports_unescape_formulas()}
        </label>
      )}
    </div>
  )
}
