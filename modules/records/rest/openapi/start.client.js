// Runs in the browser, on the pages of the API's documentation. Swagger UI itself is loaded before it.
const page = document.getElementById('swagger-ui')
const source = page.dataset.source

/** Drops what sends requests, and opens the schemas beside the calls. */
const readOnly = {
  supportedSubmitMethods: [],
  defaultModelRendering: 'model',
  defaultModelExpandDepth: 2,
  plugins: [
    () => ({ wrapComponents: { authorizeBtn: () => () => null, authorizeOperationBtn: () => () => null } }),
  ],
}

/** The token of the session that the browser has, if it has one. */
async function sessionToken() {
  const answer = await fetch('/api/v1/auth/token/refresh', { method: 'POST' })
  return answer.ok ? (await answer.json()).token : null
}

function show(spec, headers) {
  window.SwaggerUIBundle({
    spec,
    domNode: page,
    deepLinking: true,
    persistAuthorization: false,
    validatorUrl: null,
    ...(page.dataset.readonly === 'true' ? readOnly : {}),
    requestInterceptor(request) {
      // What was typed under "Authorize" comes first.
      const isAuthorized = ['xc-token', 'xc-auth', 'Authorization'].some((name) => request.headers[name])
      if (!isAuthorized) Object.assign(request.headers, headers)
      return request
    },
  })
}

/** Asks for an API token, where nobody is signed in. */
function ask() {
  const form = document.createElement('form')
  const label = document.createElement('label')
  const input = document.createElement('input')
  const button = document.createElement('button')
  label.textContent = 'API token '
  input.type = 'password'
  input.autocomplete = 'off'
  button.textContent = 'Show the API'
  label.append(input)
  form.append(label, button)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    open({ 'xc-token': input.value.trim() }).catch(showFailure)
  })
  page.replaceChildren(form)
  input.focus()
}

async function open(headers) {
  const answer = await fetch(source, { headers })
  if (answer.status === 401) return ask()
  const body = await answer.json()
  if (answer.ok) return show(body, headers)
  page.textContent = body.message ?? body.msg
}

function showFailure(error) {
  page.textContent = `The API could not be loaded: ${error.message}`
}

const token = page.dataset.open === 'true' ? null : await sessionToken()
await open(token ? { 'xc-auth': token } : {})
