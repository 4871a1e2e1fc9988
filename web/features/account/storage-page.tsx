import { HardDrive } from 'lucide-react'
import { t } from '../../i18n.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { trpc } from '../../trpc.ts'
import { EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx'
import { formatBytes } from '../storage/format-bytes.ts'
import styles from './account.module.css'

/** Every base with the room that it takes, the largest first. */
export function StoragePage() {
  const bases = trpc.storage.bases.useQuery()
  if (bases.error && !bases.data)
    return (
      <ErrorState
        title={t('Base sizes could not be loaded')}
        error={bases.error}
        onRetry={() => void bases.refetch()}
      />
    )
  if (!bases.data) return <Skeleton height={120} />
  if (bases.data.length === 0) return <EmptyState icon={HardDrive} title={t('No bases yet')} />
  return (
    <div className={styles.form}>
      <p className={styles.note}>
        {t('Includes records, history and trash, but not attachments. To reclaim space, open a base.')}
      </p>
      <table className={styles.sizes}>
        <thead>
          <tr>
            <th scope="col">{t('Base')}</th>
            <th scope="col">{t('Size')}</th>
          </tr>
        </thead>
        <tbody>
          {bases.data.map(({ id, title, bytes }) => (
            <tr key={id}>
              <td>
                <a href={hrefOf(paths.base(id))} dir="auto">
                  {title}
                </a>
              </td>
              <td>{bytes === null ? t('Cannot be read') : formatBytes(bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
