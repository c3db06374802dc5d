const list = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Function words of English: left out of descriptions and questions. "no", "not", "id" and "all" carry meaning in tools. */
export const STOP_WORDS = list(`
  a an and any about also are as at be been but by can could do does for from had has have how i if in into is it its
  just know let like me my of on or our please should so some such tell than that the their them then there these they
  this to us use used using via want was we were what when where which who will with would you your need help
`);

/**
 * What people wrap a question in: left out of questions only, since a tool may be about "today" or "best".
 * Verbs that name an action ("find", "show", "provide") are not among them.
 */
export const FILLER_WORDS = list(`
  hi hey hello thanks thank dear chatgpt gpt assistant am being doing did done im ive going gonna wanna go make sure
  really very much many more most well good great best nice new way ways thing things something anything everything
  someone anyone able possible maybe perhaps currently recently right now today soon lately interested planning plan
  trying try wondering wonder curious considering thinking think hoping hope love may shall might must own same other
  another each every all both few because since while though although however therefore additionally furthermore
  moreover besides lastly finally first second next after before during through without within between over under up
  down out off again too only here he she his her him kind sort type example instance specific specifically particular
  particularly assist assistance explain understand understanding learn enough lot lots bit little see based kindly
  quickly easily available various different certain e g eg etc t s m re ve ll d don doesn isn aren won didn wouldn
  couldn shouldn
`);
