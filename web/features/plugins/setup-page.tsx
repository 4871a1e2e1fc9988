import { CircleAlert, CircleCheck, CircleDashed, HardDrive, Mail, MessageSquare } from 'lucide-react'
import { PLUGINS, type PluginCategory } from '../../../src/core/plugins/index.ts'
import { formatBytes } from '../../attachments/format-bytes.ts'
import { m } from '../../messages.gen.ts'
import { type Outputs, trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { openDialog } from '../../ui/open-dialog.tsx'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import { PluginDialog } from './plugin-dialog.tsx'
import styles from './setup-page.module.css'

export type Plugin = Outputs['plugins']['list'][number]

const CATEGORIES: {
  id: PluginCategory
  icon: typeof Mail
  title: () => string
  /** Explains the category where a service is in use. */
  inUse: () => string
  /** The consequences of having none. */
  notInUse: () => string
}[] = [
  {
    id: 'email',
    icon: Mail,
    title: m.plugins_email,
    inUse: m.plugins_email_in_use,
    notInUse: m.plugins_email_not_in_use,
  },
  {
    id: 'storage',
    icon: HardDrive,
    title: m.plugins_storage,
    inUse: m.plugins_storage_in_use,
    notInUse: m.plugins_storage_not_in_use,
  },
  {
    id: 'chat',
    icon: MessageSquare,
    title: m.plugins_chat,
    inUse: m.plugins_chat_in_use,
    notInUse: m.plugins_chat_not_in_use,
  },
]

/** Mail services, file stores and chat services, for super admins. */
export function SetupPage() {
  const plugins = trpc.plugins.list.useQuery()
  if (plugins.error && !plugins.data) return <QueryError title={m.plugins_load_failed()} query={plugins} />
  const known = plugins.data
  return (
    <div className={styles.page} aria-busy={!known}>
      {CATEGORIES.map(({ id, icon: Icon, title, inUse, notInUse }) => {
        const own = known?.filter(({ category }) => category === id) ?? []
        const isSet = own.some(({ isActive }) => isActive)
        const isFixed = own.some(({ isFromEnvironment }) => isFromEnvironment)
        return (
          <section key={id} className={styles.section} aria-labelledby={`plugins-${id}`}>
            <h3 id={`plugins-${id}`} className={styles.title}>
              <Icon size={16} aria-hidden />
              {title()}
              {known && (
                <State isSet={isSet} text={isSet ? m.plugins_configured() : m.plugins_not_configured()} />
              )}
            </h3>
            <p className={styles.note}>{isSet ? inUse() : notInUse()}</p>
            {isFixed && <Alert>{m.plugins_from_environment_hint()}</Alert>}
            {id === 'storage' && <StoredFiles />}
            <ul className={styles.cards}>
              {known
                ? own.map((plugin) => <Card key={plugin.id} plugin={plugin} isFixed={isFixed} />)
                : PLUGINS.filter(({ category }) => category === id).map((plugin) => (
                    <li key={plugin.id}>
                      <Skeleton height={112} />
                    </li>
                  ))}
            </ul>
          </section>
        )
      })}
    </div>
  )
}

function State({ isSet, text }: { isSet: boolean; text: string }) {
  const Icon = isSet ? CircleCheck : CircleAlert
  return (
    <span className={styles.state} data-set={isSet}>
      <Icon size={14} aria-hidden />
      {text}
    </span>
  )
}

function Card({ plugin, isFixed }: { plugin: Plugin; isFixed: boolean }) {
  const definition = PLUGINS.find(({ id }) => id === plugin.id)
  if (!definition) return null
  const Icon = plugin.isUnreadable ? CircleAlert : plugin.isActive ? CircleCheck : CircleDashed
  return (
    <li className={styles.card} data-active={plugin.isActive || undefined}>
      <strong className={styles.name}>{plugin.title}</strong>
      <span className={styles.description}>{definition.description()}</span>
      <span className={styles.foot}>
        <span className={styles.state} data-set={plugin.isUnreadable ? false : plugin.isActive || undefined}>
          <Icon size={14} aria-hidden />
          {stateOf(plugin)}
        </span>
        {(!isFixed || plugin.isFromEnvironment) && (
          <Button
            size="small"
            aria-label={
              plugin.isFromEnvironment
                ? m.plugins_view_title({ title: plugin.title })
                : m.plugins_configure_title({ title: plugin.title })
            }
            onClick={() =>
              openDialog((close) => <PluginDialog plugin={plugin} definition={definition} onClose={close} />)
            }
          >
            {plugin.isFromEnvironment ? m.plugins_view() : m.plugins_configure()}
          </Button>
        )}
      </span>
    </li>
  )
}

function stateOf({ isActive, isFromEnvironment, isUnreadable, config }: Plugin): string {
  if (isFromEnvironment) return m.plugins_state_environment()
  if (isUnreadable) return m.plugins_state_unreadable()
  if (isActive) return m.plugins_state_in_use()
  return config === null ? m.plugins_not_configured() : m.plugins_state_not_in_use()
}

/** Where files are stored now, and where older ones remain. */
function StoredFiles() {
  const stores = trpc.plugins.storedFiles.useQuery()
  if (stores.error && !stores.data) {
    return <QueryError title={m.plugins_stored_files_load_failed()} query={stores} />
  }
  if (!stores.data) return <Skeleton height={20} />
  return (
    <ul className={styles.stores}>
      {stores.data.map(({ storeId, bucket, endpoint, isCurrent, files, bytes }) => {
        const store = endpoint === null ? bucket : `${bucket} (${new URL(endpoint).host})`
        const facts = { count: files, size: formatBytes(bytes), store: store ?? m.plugins_data_folder() }
        return (
          <li key={storeId ?? ''}>
            {isCurrent ? m.plugins_files_in_current_store(facts) : m.plugins_files_in_former_store(facts)}
          </li>
        )
      })}
    </ul>
  )
}
