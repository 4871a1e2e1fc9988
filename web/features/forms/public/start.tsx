import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { startLanguage } from '../../../i18n.ts'
import { readFormPlace } from './form-place.ts'
import { PublicFormPage } from './public-form-page.tsx'

/** Renders the form that the URL refers to, and follows changes of the hash. */
export async function startPublicForms(): Promise<void> {
  const root = document.getElementById('root')
  if (!root) throw new Error('public-form.html has no #root')
  await startLanguage()
  createRoot(root).render(<PublicForms />)
}

/** For URLs without a form: an unknown id, so that the page shows its “not found” notice. */
const NOWHERE = { linkId: 'none', isSurvey: false, query: new URLSearchParams() }

function PublicForms() {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const onChange = () => setHash(location.hash)
    window.addEventListener('hashchange', onChange)
    return () => window.removeEventListener('hashchange', onChange)
  }, [])
  const place = readFormPlace({ hash, search: location.search })
  return <PublicFormPage key={hash} place={place ?? NOWHERE} />
}
