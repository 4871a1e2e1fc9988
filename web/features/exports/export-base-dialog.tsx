import { useState } from 'react'
import type { Base } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'
import { timeZone } from '../../time-zone.ts'
import { api, type Inputs, trpc } from '../../trpc.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { SelectField } from '../../ui/field.tsx'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import styles from './export-dialog.module.css'
import { CsvChoices, ExportRunDialog } from './export-dialog.tsx'
import { runExportJob } from './run-export.ts'

type TableFormat = Inputs['records']['exportBase']['format']

/** A file with everything, which another Sheaf opens, or one with the records of tables. */
type Format = 'sheaf' | TableFormat

interface FileContents {
  withAttachments: boolean
  withComments: boolean
  withHistory: boolean
}

/** Exports a base: as a Sheaf file, or the records of chosen tables in another format. */
export function ExportBaseDialog({ base, onClose }: { base: Base; onClose: () => void }) {
  const mayExportAll = roleCan(base.role, 'base.export')
  const [format, setFormat] = useState<Format>(mayExportAll ? 'sheaf' : 'csv')
  const [csv, setCsv] = useState<{ isGuarded: boolean; delimiter: ',' | ';' | '\t' }>({
    isGuarded: true,
    delimiter: ',',
  })
  const [contents, setContents] = useState<FileContents>({
    withAttachments: true,
    withComments: true,
    withHistory: false,
  })
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set())
  const tables = trpc.schema.tables.useQuery({ baseId: base.id })
  const chosen = tables.data?.filter(({ id }) => !leftOut.has(id)) ?? []

  const start = () =>
    format === 'sheaf'
      ? api.baseFiles.export.mutate({ baseId: base.id, ...contents })
      : api.records.exportBase.mutate({
          baseId: base.id,
          format,
          timeZone,
          ...csv,
          tableIds: chosen.map(({ id }) => id),
        })

  return (
    <ExportRunDialog
      title={base.title}
      isReady={format === 'sheaf' || chosen.length > 0}
      start={(onProgress) => runExportJob(start, onProgress)}
      onClose={onClose}
    >
      <div className={styles.choices}>
        <SelectField
          label={m.common_format()}
          data-autofocus
          value={format}
          onChange={(event) => setFormat(event.target.value as Format)}
        >
          {mayExportAll && <option value="sheaf">{m.exports_sheaf_file()}</option>}
          <option value="csv">{m.exports_csv_archive()}</option>
          <option value="xlsx">{m.exports_excel_sheets()}</option>
          <option value="json">{m.exports_json()}</option>
          <option value="ndjson">{m.exports_ndjson_archive()}</option>
        </SelectField>
        {format === 'sheaf' ? (
          <ContentChoices
            contents={contents}
            change={(part) => setContents((before) => ({ ...before, ...part }))}
          />
        ) : (
          <fieldset className={styles.tables}>
            <legend>{m.exports_tables()}</legend>
            {tables.error && !tables.data ? (
              <QueryError title={m.exports_tables_load_failed()} query={tables} />
            ) : !tables.data ? (
              <Skeleton width={160} height={20} />
            ) : tables.data.length === 0 ? (
              <p className={styles.scope}>{m.exports_no_tables()}</p>
            ) : (
              tables.data.map(({ id, title }) => (
                <Checkbox
                  key={id}
                  label={title}
                  checked={!leftOut.has(id)}
                  onChange={(isChosen) =>
                    setLeftOut((before) => {
                      const after = new Set(before)
                      if (isChosen) after.delete(id)
                      else after.add(id)
                      return after
                    })
                  }
                />
              ))
            )}
          </fieldset>
        )}
        {format === 'csv' && (
          <CsvChoices choices={csv} change={(part) => setCsv((before) => ({ ...before, ...part }))} />
        )}
      </div>
    </ExportRunDialog>
  )
}

function ContentChoices({
  contents,
  change,
}: {
  contents: FileContents
  change: (part: Partial<FileContents>) => void
}) {
  return (
    <>
      <p className={styles.scope}>{m.exports_sheaf_file_hint()}</p>
      <Checkbox
        label={m.exports_with_attachments()}
        checked={contents.withAttachments}
        onChange={(withAttachments) => change({ withAttachments })}
      />
      <Checkbox
        label={m.exports_with_comments()}
        checked={contents.withComments}
        onChange={(withComments) => change({ withComments })}
      />
      <Checkbox
        label={m.exports_with_history()}
        help={m.exports_with_history_hint()}
        checked={contents.withHistory}
        onChange={(withHistory) => change({ withHistory })}
      />
    </>
  )
}
