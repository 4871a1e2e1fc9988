import { useState } from 'react'
import {
  BASE_SOURCES,
  type BaseSourceKind,
  type ImportChoices,
  SOURCES_WITH_PEOPLE,
} from '../../../src/core/base-imports.ts'
import { m } from '../../messages.gen.ts'
import { api, cache, trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { useIsMounted } from '../../ui/effects.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import { useSubmit } from '../../ui/use-submit.ts'
import { SourceButtons } from '../imports/source-choice.tsx'
import styles from './base-imports.module.css'
import { ImportList } from './import-list.tsx'
import { ImportRun } from './import-run.tsx'
import { SOURCE_FORMS, SourceCredentials, type SourceInput } from './source-form.tsx'

interface FoundBase {
  id: string
  title: string
}

export interface BaseImportDialogProps {
  /** The base that gets the tables; null: a new one. */
  baseId: string | null
  onClose: () => void
}

/** Import of a base from another product: choose the source, the base and what to bring, then follow the progress. */
export function BaseImportDialog({ baseId, onClose }: BaseImportDialogProps) {
  const [source, setSource] = useState<BaseSourceKind>('airtable')
  /** Kept while a base is chosen, so that *Back* does not ask for the credentials again. */
  const [from, setFrom] = useState<SourceInput | null>(null)
  const [bases, setBases] = useState<FoundBase[] | null>(null)
  const [importId, setImportId] = useState<string | null>(null)
  if (importId !== null) {
    return <ImportRun importId={importId} onBack={() => setImportId(null)} onClose={onClose} />
  }
  if (from && bases) {
    return (
      <ChooseBase
        from={from}
        bases={bases}
        baseId={baseId}
        onBack={() => setBases(null)}
        onStarted={(id) => {
          setFrom(null)
          setBases(null)
          setImportId(id)
        }}
        onClose={onClose}
      />
    )
  }
  return (
    <ChooseSource
      baseId={baseId}
      source={source}
      onSource={(kind) => {
        setSource(kind)
        setFrom(null)
      }}
      from={from}
      onFrom={setFrom}
      onConnected={(input, found) => {
        // Another source may have been chosen meanwhile.
        setSource(input.source)
        setFrom(input)
        setBases(found)
      }}
      onOpen={(id) => {
        setFrom(null)
        setImportId(id)
      }}
      onClose={onClose}
    />
  )
}

interface ChooseSourceProps extends BaseImportDialogProps {
  source: BaseSourceKind
  onSource: (source: BaseSourceKind) => void
  /** Null while something is missing. */
  from: SourceInput | null
  onFrom: (from: SourceInput | null) => void
  /** Called with the source that was asked, and its bases. */
  onConnected: (from: SourceInput, bases: FoundBase[]) => void
  onOpen: (importId: string) => void
}

/** The source with its credentials, and earlier imports. */
function ChooseSource(props: ChooseSourceProps) {
  const { baseId, source, onSource, from, onFrom, onConnected, onOpen, onClose } = props
  const imports = trpc.baseImports.list.useQuery(baseId === null ? {} : { baseId }, { staleTime: 0 })
  const isShown = useIsMounted()
  const { problem, setProblem, isBusy, submit } = useSubmit(
    async () => {
      if (!from) return
      const bases = await api.baseImports.inspect.mutate({ from, ...(baseId !== null && { baseId }) })
      // An earlier import may have been opened instead.
      if (isShown.current) onConnected(from, bases)
    },
    () => undefined,
  )
  return (
    <Dialog
      title={baseId === null ? m.base_imports_import_base() : m.base_imports_import_tables()}
      closesOutside={false}
      onClose={onClose}
      onSubmit={() => from && submit()}
      footer={
        <>
          <Button onClick={onClose}>{m.common_cancel()}</Button>
          <Button type="submit" variant="primary" busy={isBusy} disabled={from === null}>
            {m.base_imports_connect()}
          </Button>
        </>
      }
    >
      <div className={styles.content}>
        <SourceButtons
          label={m.base_imports_source()}
          sources={BASE_SOURCES.map((id) => ({ id, label: SOURCE_FORMS[id].label() }))}
          selected={source}
          onSelect={(kind) => {
            onSource(kind)
            setProblem(null)
          }}
        />
        <SourceCredentials
          source={source}
          known={from}
          onChange={(input) => {
            onFrom(input)
            setProblem(null)
          }}
        />
        {problem && (
          <p className={styles.problem} role="alert">
            {problem}
          </p>
        )}
        {imports.error && !imports.data ? (
          <QueryError title={m.base_imports_imports_load_failed()} query={imports} />
        ) : imports.data ? (
          imports.data.length > 0 && <ImportList imports={imports.data} onOpen={onOpen} />
        ) : (
          <Skeleton height={40} />
        )}
      </div>
    </Dialog>
  )
}

interface ChooseBaseProps extends BaseImportDialogProps {
  from: SourceInput
  bases: FoundBase[]
  onBack: () => void
  onStarted: (importId: string) => void
}

const EVERYTHING: ImportChoices = {
  views: true,
  comments: true,
  attachments: true,
  names: true,
  formulas: true,
  lookups: true,
  rollups: true,
  removeMissing: false,
  compareComments: false,
}

/** The base of the source, and what to bring. */
function ChooseBase({ from, bases, baseId, onBack, onStarted, onClose }: ChooseBaseProps) {
  const [sourceBaseId, setSourceBaseId] = useState(bases[0]?.id ?? '')
  const [title, setTitle] = useState(bases[0]?.title ?? '')
  const [choices, setChoices] = useState(EVERYTHING)
  const [keepCredentials, setKeep] = useState(false)
  const [matchFirst, setMatchFirst] = useState(false)
  const { problem, isBusy, submit } = useSubmit(
    async () => {
      const { id } = await api.baseImports.begin.mutate({
        from,
        sourceBaseId,
        title: title.trim(),
        choices,
        keepCredentials,
        matchFirst,
        ...(baseId !== null && { baseId }),
      })
      await cache.bases.list.invalidate()
      onStarted(id)
    },
    () => undefined,
  )
  const isReady = sourceBaseId !== '' && title.trim() !== ''
  const options: [keyof ImportChoices, string][] = [
    ['views', m.base_imports_views()],
    ['comments', m.base_imports_comments()],
    ['attachments', m.base_imports_files()],
    ['formulas', m.base_imports_formulas()],
    ['lookups', m.base_imports_lookups()],
    ['rollups', m.base_imports_rollups()],
  ]
  return (
    <Dialog
      title={m.base_imports_choose_what()}
      closesOutside={false}
      onClose={onClose}
      onSubmit={() => isReady && submit()}
      footer={
        <>
          <Button className={styles.back} onClick={onBack}>
            {m.base_imports_go_back()}
          </Button>
          <Button onClick={onClose}>{m.common_cancel()}</Button>
          <Button type="submit" variant="primary" busy={isBusy} disabled={!isReady} data-autofocus>
            {m.base_imports_import()}
          </Button>
        </>
      }
    >
      {bases.length === 0 ? (
        <p>{m.base_imports_no_bases()}</p>
      ) : (
        <div className={styles.content}>
          <SelectField
            label={m.base_imports_base_of_source()}
            value={sourceBaseId}
            onChange={({ target }) => {
              setSourceBaseId(target.value)
              setTitle(bases.find(({ id }) => id === target.value)?.title ?? title)
            }}
          >
            {bases.map((base) => (
              <option key={base.id} value={base.id}>
                {base.title}
              </option>
            ))}
          </SelectField>
          {baseId === null && (
            <TextField
              label={m.base_imports_title_of_new_base()}
              value={title}
              maxLength={255}
              onChange={({ target }) => setTitle(target.value)}
            />
          )}
          <fieldset className={styles.choices}>
            <legend>{m.base_imports_bring_along()}</legend>
            {options.map(([key, label]) => (
              <Checkbox
                key={key}
                label={label}
                checked={choices[key]}
                onChange={(checked) => setChoices({ ...choices, [key]: checked })}
              />
            ))}
          </fieldset>
          <Checkbox
            label={m.base_imports_keep_names()}
            help={m.base_imports_keep_names_help()}
            checked={choices.names}
            onChange={(names) => setChoices({ ...choices, names })}
          />
          {SOURCES_WITH_PEOPLE.has(from.source) && (
            <Checkbox
              label={m.base_imports_match_first()}
              help={m.base_imports_match_first_help()}
              checked={matchFirst}
              onChange={setMatchFirst}
            />
          )}
          <Checkbox
            label={m.base_imports_keep_credentials()}
            help={m.base_imports_keep_credentials_help()}
            checked={keepCredentials}
            onChange={setKeep}
          />
          {problem && (
            <p className={styles.problem} role="alert">
              {problem}
            </p>
          )}
        </div>
      )}
    </Dialog>
  )
}
