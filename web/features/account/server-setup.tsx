import { CircleAlert, CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { messageOf } from '../../errors.ts'
import { t } from '../../i18n.ts'
import { type Outputs, trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import styles from './account.module.css'

type Setup = Outputs['app']['setup']

/** What the environment variables set up: mail, the address of the server, files and database. To be read only. */
export function ServerSetup() {
  const setup = trpc.app.setup.useQuery()
  if (setup.error && !setup.data)
    return (
      <ErrorState
        title={t('The server setup could not be loaded')}
        error={setup.error}
        onRetry={() => void setup.refetch()}
      />
    )
  if (!setup.data) return <Skeleton height={160} />
  const { mail, files, database, publicUrl } = setup.data
  return (
    <>
      <p className={styles.note}>
        {t(
          'The following is set by environment variables when the server starts. The README lists them under “Configuration”.',
        )}
      </p>
      <Part title={t('Mail')} isSet={mail !== null}>
        {mail === null ? (
          <p className={styles.note}>
            {t(
              'Invitations, reset links and form answers are not mailed. Set SMTP_HOST, SMTP_FROM and PUBLIC_URL to send them.',
            )}
          </p>
        ) : (
          <MailSetup mail={mail} />
        )}
      </Part>
      <Part title={t('Public address')} isSet={publicUrl !== null}>
        {publicUrl === null ? (
          <p className={styles.note}>
            {t(
              'Links use the address that each request came to. Set PUBLIC_URL to use one address in all links.',
            )}
          </p>
        ) : (
          <Facts facts={[[t('Address'), publicUrl]]} />
        )}
      </Part>
      <Part title={t('Attached files')} isSet>
        {files.kind === 'folder' ? (
          <p className={styles.note}>
            {t(
              'Stored in the folder “attachments” of DATA_DIR. Set S3_BUCKET to use an S3-compatible store.',
            )}
          </p>
        ) : (
          <Facts
            facts={[
              [t('S3 bucket'), files.bucket],
              [t('Region'), files.region],
              [t('Endpoint'), files.endpoint],
            ]}
          />
        )}
      </Part>
      <Part title={t('Database')} isSet>
        <p className={styles.note}>
          {database === 'postgres'
            ? t('PostgreSQL, as set by DATABASE_URL.')
            : t('SQLite files in DATA_DIR. Set DATABASE_URL to use PostgreSQL.')}
        </p>
      </Part>
    </>
  )
}

function Part({ title, isSet, children }: { title: string; isSet: boolean; children: ReactNode }) {
  const Icon = isSet ? CircleCheck : CircleAlert
  return (
    <section className={styles.setup}>
      <h3 className={styles.setupTitle}>
        {title}
        <span className={styles.setupState} data-set={isSet}>
          <Icon size={14} aria-hidden />
          {isSet ? t('Configured') : t('Not configured')}
        </span>
      </h3>
      {children}
    </section>
  )
}

function Facts({ facts }: { facts: [string, string | null][] }) {
  return (
    <dl className={styles.facts}>
      {facts
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd dir="ltr">{value}</dd>
          </div>
        ))}
    </dl>
  )
}

function MailSetup({ mail }: { mail: NonNullable<Setup['mail']> }) {
  const test = trpc.app.sendTestMail.useMutation()
  const encryption = {
    tls: t('TLS from the start'),
    starttls: t('STARTTLS where the mail server offers it'),
    none: t('None'),
  }[mail.encryption]
  return (
    <>
      <Facts
        facts={[
          [t('Mail server'), `${mail.host}:${mail.port}`],
          [t('From'), mail.from],
          [t('User name'), mail.username],
          [t('Encryption'), encryption],
        ]}
      />
      <div>
        <Button busy={test.isPending} onClick={() => test.mutate()}>
          {t('Send test mail')}
        </Button>
      </div>
      {test.error && <Alert tone="error">{messageOf(test.error)}</Alert>}
      {test.data?.problem === null && (
        <Alert>{t('The mail server accepted a test mail to {email}.', { email: test.data.recipient })}</Alert>
      )}
      {typeof test.data?.problem === 'string' && (
        <Alert tone="error">
          {t('The mail server did not accept the test mail: {reason}', { reason: test.data.problem })}
        </Alert>
      )}
    </>
  )
}
