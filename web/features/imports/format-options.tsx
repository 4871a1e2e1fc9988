import { CSV_DELIMITERS, CSV_ENCODINGS, type CsvEncoding } from '../../../src/core/csv/format.ts'
import { t } from '../../i18n.ts'
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
    ',': t('Comma ,'),
    ';': t('Semicolon ;'),
    '\t': t('Tab'),
    '|': t('Bar |'),
  }
  return (
    <div className={styles.options}>
      <label className={styles.option}>
        <span>{t('Encoding')}</span>
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
        <span>{t('Separator')}</span>
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
        <span>{t('Decimal places')}</span>
        <select
          className={styles.select}
          value={format.decimal}
          onChange={(event) => all.choose(draft, { decimal: event.target.value === ',' ? ',' : '.' })}
        >
          <option value=".">{t('Point: 1,234.5')}</option>
          <option value=",">{t('Comma: 1.234,5')}</option>
        </select>
      </label>
      {(isAmbiguous || draft.monthFirst) && (
        <label className={styles.option}>
          <span>{t('Read 01/02/2024 as')}</span>
          <select
            className={styles.select}
            value={draft.monthFirst ? 'month' : 'day'}
            onChange={(event) => all.chooseMonthFirst(draft, event.target.value === 'month')}
          >
            <option value="day">{t('1 February')}</option>
            <option value="month">{t('2 January')}</option>
          </select>
        </label>
      )}
      <label className={styles.option}>
        <input
          type="checkbox"
          checked={format.header}
          onChange={(event) => all.choose(draft, { header: event.target.checked })}
        />
        {t('First row contains field names')}
      </label>
      {(format.guarded || draft.chosen.guarded !== undefined) && (
        <label
          className={styles.option}
          data-tip={t("Exports with escaped formulas add a ' before text that looks like a formula.")}
        >
          <input
            type="checkbox"
            checked={format.guarded}
            onChange={(event) => all.choose(draft, { guarded: event.target.checked })}
          />
          {t("Remove the ' before text like =1+1")}
        </label>
      )}
    </div>
  )
}
