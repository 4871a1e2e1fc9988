import type { SelectionStatus } from '../../grid/source.ts'
import { localeTag, t, tn } from '../../i18n.ts'
import styles from './table-view.module.css'

/** Count, sum and average of what is selected, over the end of the footer. */
export function SelectionNumbers({ status }: { status: SelectionStatus | null }) {
  if (!status || status.cells < 2) return null
  const format = new Intl.NumberFormat(localeTag(), { maximumFractionDigits: 2 })
  return (
    <output className={styles.numbers} data-testid="selection-numbers">
      <span>{tn('1 cell', '{n} cells', status.cells)}</span>
      {status.numbers > 0 && (
        <>
          <span>{t('Sum {n}', { n: format.format(status.sum) })}</span>
          {status.average !== null && <span>{t('Average {n}', { n: format.format(status.average) })}</span>}
        </>
      )}
      {!status.complete && <span>{t('(loaded cells only)')}</span>}
    </output>
  )
}
