import { Database, Ellipsis, Pencil, Plus, RefreshCw, Trash2 } from 'lucide-react'
import type { Base } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'
import { trpc } from '../../trpc.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { type MenuItem, openMenu } from '../../ui/menu.tsx'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import { SwitchInput } from '../../ui/switch.tsx'
import { ENGINES, locationOf, type Source } from './connection-draft.ts'
import {
  connectDatabase,
  editSource,
  nameOf,
  patchSource,
  removeSource,
  syncSource,
} from './source-commands.tsx'
import styles from './sources.module.css'

/** Data sources of a base: its own storage and connected databases. */
export function SourcesPanel({ base }: { base: Base }) {
  const sources = trpc.sources.list.useQuery({ baseId: base.id })
  const mayConnect = roleCan(base.role, 'source.create')
  if (sources.error && !sources.data) {
    return <QueryError title={m.sources_data_sources_load_failed()} query={sources} />
  }
  const connected = sources.data?.filter(({ isOwn }) => !isOwn)
  return (
    <div className={styles.panel}>
      {connected?.length === 0 ? (
        <EmptyState
          icon={Database}
          title={m.sources_no_data_sources_connected()}
          text={m.sources_no_sources_hint()}
        >
          {mayConnect && (
            <Button variant="primary" icon={Plus} onClick={() => connectDatabase(base.id)}>
              {m.sources_connect_a_database()}
            </Button>
          )}
        </EmptyState>
      ) : (
        <>
          {mayConnect && (
            <div className={styles.bar}>
              <Button variant="primary" icon={Plus} onClick={() => connectDatabase(base.id)}>
                {m.sources_connect_a_database()}
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
  const switchLabel = source.isEnabled ? m.sources_shown_name({ name }) : m.sources_hidden_name({ name })
  const menu = (): MenuItem[] => [
    { kind: 'id', label: m.sources_source_id(), value: source.id },
    { kind: 'separator' },
    { kind: 'action', label: m.sources_edit(), icon: Pencil, run: () => editSource(source) },
    { kind: 'action', label: m.sources_synchronise(), icon: RefreshCw, run: () => syncSource(source) },
    { kind: 'separator' },
    {
      kind: 'action',
      label: m.sources_allow_editing_records(),
      checked: !source.isDataReadonly,
      run: () => void patchSource(source, { isDataReadonly: !source.isDataReadonly }),
    },
    {
      kind: 'action',
      label: m.sources_allow_editing_fields(),
      checked: !source.isSchemaReadonly,
      run: () => void patchSource(source, { isSchemaReadonly: !source.isSchemaReadonly }),
    },
    { kind: 'separator' },
    {
      kind: 'action',
      label: m.common_remove(),
      icon: Trash2,
      tone: 'danger',
      run: () => void removeSource(source),
    },
  ]
  return (
    <li className={styles.source}>
      <SwitchInput
        aria-label={switchLabel}
        data-tip={switchLabel}
        checked={source.isEnabled}
        disabled={!mayChange}
        onChange={(isEnabled) => void patchSource(source, { isEnabled })}
      />
      <span className={styles.sourceText}>
        <strong className={styles.sourceName} dir="auto" data-tip={name} data-tip-clipped>
          {name}
        </strong>
        <small className={styles.sourcePlace} dir="auto">
          {source.isOwn
            ? m.sources_built_in_storage()
            : locationOf(source) || m.sources_enter_the_connection_details_again()}
        </small>
      </span>
      <span className={styles.tags}>
        {source.isDataReadonly && <span className={styles.tag}>{m.sources_read_only_records()}</span>}
        {source.isSchemaReadonly && <span className={styles.tag}>{m.sources_read_only_fields()}</span>}
        <span className={styles.tag}>{ENGINES[source.client].label}</span>
      </span>
      {mayChange ? (
        <>
          <Button size="small" icon={RefreshCw} className={styles.sync} onClick={() => syncSource(source)}>
            {m.sources_synchronise()}
          </Button>
          <IconButton
            icon={Ellipsis}
            label={m.sources_options_for_source_name({ name })}
            onClick={(event) =>
              openMenu(event.currentTarget, menu(), m.sources_options_for_source_name({ name }))
            }
          />
        </>
      ) : (
        <span className={styles.noMenu} />
      )}
    </li>
  )
}
