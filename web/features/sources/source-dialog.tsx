import { Eye, Table2 } from 'lucide-react'
import { useState } from 'react'
import { messageOf } from '../../errors.ts'
import { formatNumber } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { type Outputs, trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import {
  type ConnectionDraft,
  connectionInput,
  draftOf,
  ENGINES,
  emptyDraft,
  isComplete,
  type Source,
} from './connection-draft.ts'
import { ConnectionFields } from './connection-fields.tsx'
import { JobView } from './job-view.tsx'
import styles from './sources.module.css'

type Step = 'connection' | 'tables' | 'progress'

/** Settings of a new source besides its connection. */
interface NewSourceSettings {
  inflection: 'none' | 'camelize'
  isSchemaReadonly: boolean
  isDataReadonly: boolean
}

const SETTINGS: NewSourceSettings = { inflection: 'none', isSchemaReadonly: false, isDataReadonly: false }

/**
 * Connects a base to a database in three steps: connection, tables, progress. With `source`, only edits the
 * connection of that source.
 */
export function SourceDialog({
  baseId,
  source,
  onClose,
}: {
  baseId: string
  source: Source | null
  onClose: () => void
}) {
  const utils = trpc.useUtils()
  const [step, setStep] = useState<Step>('connection')
  const [draft, setDraft] = useState<ConnectionDraft>(() => (source ? draftOf(source) : emptyDraft('pg')))
  const [alias, setAlias] = useState(source?.alias ?? '')
  const [settings, setSettings] = useState(SETTINGS)
  const [found, setFound] = useState<Outputs['sources']['inspect'] | null>(null)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [jobId, setJobId] = useState<string | null>(null)

  const target = { baseId, ...(source && { sourceId: source.id }) }
  const test = trpc.sources.test.useMutation()
  const inspect = trpc.sources.inspect.useMutation()
  const create = trpc.sources.create.useMutation({
    onSuccess({ id }) {
      setJobId(id)
      setStep('progress')
    },
  })
  const update = trpc.sources.update.useMutation({
    onSuccess: () => void utils.sources.list.invalidate({ baseId }),
  })

  const sent = connectionInput(draft, source !== null)
  const busy = [test, inspect, create, update].some(({ isPending }) => isPending)
  const ready = isComplete(draft) && !busy

  function change(next: ConnectionDraft) {
    setDraft(next)
    test.reset()
    inspect.reset()
    update.reset()
  }

  function changeAlias(next: string) {
    setAlias(next)
    update.reset()
  }

  function showTables(inspection: Outputs['sources']['inspect']) {
    setFound(inspection)
    setChosen(new Set(inspection.tables.map(({ name }) => name)))
    setStep('tables')
  }

  function submit() {
    if (step === 'connection') {
      if (!ready) return
      // `reset` drops these callbacks: the answer is for values that were changed meanwhile.
      if (source) update.mutate({ baseId, sourceId: source.id, alias, config: sent }, { onSuccess: onClose })
      else inspect.mutate({ ...target, ...sent }, { onSuccess: showTables })
    } else if (step === 'tables' && chosen.size > 0 && !busy) {
      const { inflection, ...rest } = settings
      create.mutate({
        baseId,
        ...sent,
        alias: alias.trim() || usualName(draft),
        ...rest,
        inflectionTable: inflection,
        inflectionColumn: inflection,
        ...(chosen.size < (found?.tables.length ?? 0) && { tables: [...chosen] }),
      })
    }
  }

  const title = source
    ? m.sources_edit_data_source()
    : step === 'tables'
      ? m.sources_choose_tables()
      : m.sources_connect_a_database()
  return (
    <Dialog
      title={title}
      closesOutside={step === 'progress'}
      onClose={onClose}
      onSubmit={submit}
      footer={footer()}
    >
      {step === 'connection' && (
        <div className={styles.form}>
          <ConnectionFields draft={draft} source={source} schemas={found?.schemas ?? []} onChange={change} />
          <TextField
            label={m.sources_name_optional()}
            placeholder={usualName(draft)}
            maxLength={255}
            value={alias}
            onChange={(event) => changeAlias(event.target.value)}
          />
          <Outcome test={test.data} error={test.error ?? inspect.error ?? update.error} />
        </div>
      )}
      {step === 'tables' && found && (
        <div className={styles.form}>
          {found.tables.length === 0 ? (
            <Alert>{m.sources_no_readable_tables()}</Alert>
          ) : (
            <TablePicker tables={found.tables} chosen={chosen} onChange={setChosen} />
          )}
          <SettingsFields settings={settings} onChange={setSettings} />
          {create.error && <Alert tone="error">{messageOf(create.error)}</Alert>}
        </div>
      )}
      {step === 'progress' && jobId && <JobView jobId={jobId} baseId={baseId} />}
    </Dialog>
  )

  function footer() {
    if (step === 'progress') return <Button onClick={onClose}>{m.common_close()}</Button>
    if (step === 'tables') {
      return (
        <>
          <Button onClick={() => setStep('connection')}>{m.sources_back()}</Button>
          <Button type="submit" variant="primary" busy={create.isPending} disabled={chosen.size === 0}>
            {m.sources_connect()}
          </Button>
        </>
      )
    }
    return (
      <>
        <Button
          className={styles.start}
          busy={test.isPending}
          disabled={!ready}
          onClick={() => {
            inspect.reset()
            update.reset()
            test.mutate({ ...target, ...sent })
          }}
        >
          {m.sources_test_connection()}
        </Button>
        <Button onClick={onClose}>{m.common_cancel()}</Button>
        <Button
          type="submit"
          variant="primary"
          busy={inspect.isPending || update.isPending}
          disabled={!isComplete(draft)}
        >
          {source ? m.common_save() : m.sources_choose_tables()}
        </Button>
      </>
    )
  }
}

const usualName = ({ client, database, file }: ConnectionDraft): string =>
  (ENGINES[client].isServer ? database : file).trim() || ENGINES[client].label

interface SettingsFieldsProps {
  settings: NewSourceSettings
  onChange: (settings: NewSourceSettings) => void
}

/** How names are shown, and which changes members may make in the database. */
function SettingsFields({ settings, onChange }: SettingsFieldsProps) {
  return (
    <>
      <SelectField
        label={m.sources_field_and_table_names()}
        value={settings.inflection}
        onChange={({ target }) =>
          onChange({ ...settings, inflection: target.value === 'camelize' ? 'camelize' : 'none' })
        }
      >
        <option value="none">{m.sources_names_as_in_database()}</option>
        <option value="camelize">{m.sources_names_in_title_case()}</option>
      </SelectField>
      <fieldset className={styles.permissions}>
        <legend>{m.sources_allow_members_to()}</legend>
        <Checkbox
          label={m.sources_edit_records()}
          checked={!settings.isDataReadonly}
          onChange={(may) => onChange({ ...settings, isDataReadonly: !may })}
        />
        <Checkbox
          label={m.sources_change_fields()}
          checked={!settings.isSchemaReadonly}
          onChange={(may) => onChange({ ...settings, isSchemaReadonly: !may })}
        />
      </fieldset>
    </>
  )
}

/** Outcome of the last connection attempt. */
function Outcome({ test, error }: { test: Outputs['sources']['test'] | undefined; error: unknown }) {
  const reason = error ? messageOf(error) : test?.ok === false ? test.message : null
  if (reason === null && !test) return null
  return (
    <div className={styles.outcome}>
      {reason === null ? (
        <Alert>{m.sources_connection_successful()}</Alert>
      ) : (
        <Alert tone="error">{reason}</Alert>
      )}
    </div>
  )
}

/** Limit of listed tables; the search narrows them. */
const MAX_LINES = 300

type Found = Outputs['sources']['inspect']['tables']

/** Selects tables and views of a database. */
function TablePicker({
  tables,
  chosen,
  onChange,
}: {
  tables: Found
  chosen: ReadonlySet<string>
  onChange: (chosen: ReadonlySet<string>) => void
}) {
  const [search, setSearch] = useState('')
  const words = search.trim().toLowerCase()
  const matching = tables.filter(({ name }) => name.toLowerCase().includes(words))
  const isAll = matching.length > 0 && matching.every(({ name }) => chosen.has(name))

  function toggleAll() {
    const next = new Set(chosen)
    for (const { name } of matching) isAll ? next.delete(name) : next.add(name)
    onChange(next)
  }

  function toggle(name: string) {
    const next = new Set(chosen)
    if (!next.delete(name)) next.add(name)
    onChange(next)
  }

  return (
    <div className={styles.form}>
      <TextField
        label={m.sources_search_tables()}
        data-autofocus
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      <label className={styles.pickAll}>
        <input type="checkbox" checked={isAll} onChange={toggleAll} />
        <span>{m.common_select_all()}</span>
        <small>{m.sources_of_total_selected({ count: chosen.size, total: tables.length })}</small>
      </label>
      <ul className={styles.picks}>
        {matching.slice(0, MAX_LINES).map(({ name, kind, columns, rowEstimate }) => (
          <li key={name}>
            <label className={styles.pick}>
              <input type="checkbox" checked={chosen.has(name)} onChange={() => toggle(name)} />
              {kind === 'view' ? <Eye size={15} /> : <Table2 size={15} />}
              <span className={styles.pickName} dir="auto" data-tip={name} data-tip-clipped>
                {name}
              </span>
              <small>
                {kind === 'view' ? m.common_view() : m.sources_fields_count({ count: columns })}
                {rowEstimate !== null && rowEstimate > 0 && ` · ≈ ${formatNumber(rowEstimate)}`}
              </small>
            </label>
          </li>
        ))}
      </ul>
      {matching.length === 0 && <p className={styles.help}>{m.sources_no_matching_tables()}</p>}
      {matching.length > MAX_LINES && (
        <p className={styles.help}>
          {m.sources_more_search_to_find_them({ count: matching.length - MAX_LINES })}
        </p>
      )}
    </div>
  )
}
