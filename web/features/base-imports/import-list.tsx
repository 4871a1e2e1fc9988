import type { BaseImport } from '../../../src/core/base-imports.ts'
import { formatAgo } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import styles from './base-imports.module.css'
import { SOURCE_FORMS } from './source-form.tsx'
import { statusText } from './status-text.ts'

/** Earlier imports, newest first. */
export function ImportList({
  imports,
  onOpen,
}: {
  imports: BaseImport[]
  onOpen: (importId: string) => void
}) {
  return (
    <section className={styles.earlier}>
      <h3>{m.base_imports_earlier()}</h3>
      <ul>
        {imports.map((one) => (
          <li key={one.id}>
            <span className={styles.name}>
              <strong dir="auto">{one.title}</strong>
              <small>
                {SOURCE_FORMS[one.source].label()} · {statusText(one)} · {formatAgo(one.updatedAt)}
              </small>
            </span>
            <Button size="small" onClick={() => onOpen(one.id)}>
              {m.base_imports_open()}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}
