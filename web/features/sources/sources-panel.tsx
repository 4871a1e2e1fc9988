import { Database, Ellipsis, Pencil, Plus, RefreshCw, Trash2 } from 'lucide-react'
import type { Base } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { t } from '../../i18n.ts'
import { trpc } from '../../trpc.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { type MenuItem, openMenu } from '../../ui/menu.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx'
import { ENGINES, placeOf, type Source } from './connection-draft.ts'
import { Switch } from './settings-fields.tsx'
import {
  connectDatabase,
  editSource,
  nameOf,
  patchSource,
  removeSource,
  syncSource,
} from './source-commands.tsx'
import styles from './sources.module.css'

/** The databases of a base: its own, and those that it is connected to. */
export function SourcesPanel({ base }: { base: Base }) {
  const sources = trpc.sources.list.useQuery({ baseId: base.id })
  const mayConnect = roleCan(base.role, 'source.create')
  if (sources.error && !sources.data) {
    return (
      <ErrorState
        title={t('Data sources could not be loaded')}
        error={sources.error}
        onRetry={() => void sources.refetch()}
      />
    )
  }
  const connected = sources.data?.filter(({ isOwn }) => !isOwn)
  return (
    <div role="tabpanel" aria-label={t('Data sources')} className={styles.panel}>
      {connected?.length === 0 ? (
        <EmptyState
          icon={Database}
          title={t('No data sources connected')}
          text={t('Connect a database to view and edit its tables here. The data stays in the database.')}
        >
          {mayConnect && (
            <Button variant="primary" icon={Plus} onClick={() => connectDatabase(base.id)}>
              {t('Connect a database')}
            </Button>
          )}
        </EmptyState>
      ) : (
        <>
          {mayConnect && (
            <div className={styles.bar}>
              <Button variant="primary" icon={Plus} onClick={() => connectDatabase(base.id)}>
                {t('Connect a database')}
              </Button>
            </div>
          )}
          <ul className={styles.list} aria-busy={sources.isPending}>
            {sources.data?.map((source) => <SourceRow key={source.id} base={base} source={source} />) ??
              [1, 2].map((n) => (
                <li key={n} className={styles.source}>
                  <Skeleton width={34} height={20} />
                  <Skeleton width={240} />
                </li>
              ))}
          </ul>
        </>
      )}
    </div>
  )
}

function SourceRow({ base, source }: { base: Base; source: Source }) {
  const name = nameOf(source)
  const mayChange = roleCan(base.role, 'source.update') && !source.isOwn
  const menu = (): MenuItem[] => [
    { kind: 'id', label: t('Source ID'), value: source.id },
    { kind: 'separator' },
    { kind: 'action', label: t('Edit'), icon: Pencil, run: () => editSource(source) },
    { kind: 'action', label: t('Synchronise'), icon: RefreshCw, run: () => syncSource(source) },
    { kind: 'separator' },
    {
      kind: 'action',
      label: t('Allow editing records'),
      checked: !source.isDataReadonly,
      run: () => void patchSource(source, { isDataReadonly: !source.isDataReadonly }),
    },
    {
      kind: 'action',
      label: t('Allow editing fields'),
      checked: !source.isSchemaReadonly,
      run: () => void patchSource(source, { isSchemaReadonly: !source.isSchemaReadonly }),
    },
    { kind: 'separator' },
    {
      kind: 'action',
      label: t('Remove'),
      icon: Trash2,
      tone: 'danger',
      run: () => void removeSource(source),
    },
  ]
  return (
    <li className={styles.source}>
      <Switch
        label={source.isEnabled ? t('Shown: {name}', { name }) : t('Hidden: {name}', { name })}
        checked={source.isEnabled}
        disabled={!mayChange}
        onChange={(isEnabled) => void patchSource(source, { isEnabled })}
      />
      <span className={styles.sourceText}>
        <strong className={styles.sourceName} dir="auto" data-tip={name} data-tip-clipped>
          {name}
        </strong>
        <small className={styles.sourcePlace} dir="auto">
          {source.isOwn ? t('Built-in storage') : placeOf(source) || t('Enter the connection details again')}
        </small>
      </span>
      <span className={styles.tags}>
        {source.isDataReadonly && <span className={styles.tag}>{t('Read-only records')}</span>}
        {source.isSchemaReadonly && <span className={styles.tag}>{t('Read-only fields')}</span>}
        <span className={styles.tag}>{ENGINES[source.client].label}</span>
      </span>
      {mayChange ? (
        <>
          <Button size="small" icon={RefreshCw} className={styles.sync} onClick={() => syncSource(source)}>
            {t('Synchronise')}
          </Button>
          <IconButton
            icon={Ellipsis}
            label={t('Options for source {name}', { name })}
            onClick={(event) =>
              openMenu(event.currentTarget, menu(), t('Options for source {name}', { name }))
            }
          />
        </>
      ) : (
        <span className={styles.noMenu} />
      )}
    </li>
  )
}
