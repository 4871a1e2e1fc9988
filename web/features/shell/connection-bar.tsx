import { useStore } from 'zustand'
import { t } from '../../i18n.ts'
import { connection } from '../../socket.ts'
import styles from './shell.module.css'

/** A thin line while the server is out of reach; it goes by itself. */
export function ConnectionBar() {
  const state = useStore(connection)
  return (
    <div role="status">
      {state === 'lost' && <div className={styles.bar}>{t('Connection lost. Reconnecting…')}</div>}
    </div>
  )
}
