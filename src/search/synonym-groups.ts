// One group a line. Written by hand from general knowledge of what tools are about, not from any list of questions.

/** Words that can stand for one another in a question about tools. */
export const SYNONYM_GROUPS = `
  create add make insert new generate build compose
  delete remove destroy drop erase clear purge trash discard uninstall revoke
  get fetch retrieve read obtain load
  list enumerate browse
  update edit modify change set patch alter revise
  search find query lookup discover locate
  send post publish deliver
  run execute invoke launch start trigger
  stop cancel terminate kill abort halt end
  show display view render
  describe explain detail
  check verify validate test
  compare contrast difference diff versus
  copy duplicate clone
  move rename
  join merge combine concatenate
  split separate divide
  count number total amount
  upload import
  download export save
  convert transform conversion
  translate translation language interpret
  summarize summary summarise digest abstract
  analyze analysis analyse insight
  calculate compute calculation calculator calc
  estimate predict prediction forecast projection
  recommend recommendation suggest suggestion advice idea tip
  schedule calendar event appointment agenda meeting
  remind reminder alarm notification alert
  repo repository
  pr pull
  db database
  dir directory folder
  image picture photo photograph photography pic img
  video movie film clip footage
  song music track audio tune playlist
  doc document documentation
  message msg text sms chat
  email mail inbox
  env environment variable
  config configuration setting preference option
  auth authentication login signin credential password
  info information detail metadata
  org organization company business firm enterprise corporation
  user account member profile
  person people human
  website site web webpage url page link
  issue ticket bug defect
  comment reply remark note
  chart graph plot diagram visualize visualization
  location place address
  map route direction navigation
  shop store buy purchase order shopping product
  price cost quote rate fee
  cheap discount deal coupon bargain sale
  job career vacancy employment hiring recruit
  paper article publication journal
  book novel literature ebook reading
  picture drawing sketch paint art artwork
  quiz puzzle riddle trivia
  car vehicle auto automobile
  house home property apartment estate
  doctor physician hospital clinic
  medicine drug medication prescription
  exercise workout fitness gym training
  food meal dish recipe cooking cuisine
  restaurant dining eat dinner lunch
  drink beverage cocktail wine beer
  hotel accommodation lodging stay hostel
  flight airline plane airport aviation aircraft
  train railway rail
  trip travel itinerary vacation tour tourism holiday
  crypto cryptocurrency bitcoin ethereum coin token
  stock share ticker equity
  currency exchange forex dollar euro
  weather forecast temperature climate rain
  team league club
  kid child children
  pdf document
  word docx
  excel spreadsheet xlsx workbook sheet
  slide presentation ppt powerpoint deck
  customer client
  bug error exception failure fault
  log logging trace
  review rating feedback opinion
  gift present
  code program script source programming software
  container docker pod
  cluster kubernetes k8s
  vm instance server machine host
  secret key token credential
  function method procedure
  lint format style
  add append attach include
  assign delegate allocate
  approve accept confirm
  reject decline deny refuse
  enable activate
  disable deactivate
  connect link attach integrate
  subscribe follow watch
  hide archive
  restore recover undo revert rollback
  crop resize scale trim
  compress zip archive
  extract parse scrape
  crawl scrape spider
  encrypt decrypt cipher
  rank sort order top
  filter narrow
  trending popular hot top
  latest recent newest
  nearby near closest around
  biggest largest maximum max highest
  smallest minimum min lowest least
  average mean
  balance remaining
  factor divisor
  capital city
  duration length time
  salary wage pay
  apparel clothing clothes wear hoodie shirt
  gasoline petrol gas fuel
  soccer football
  movie cinema theater
  spouse wife husband
  teammate colleague coworker
  staff employee worker
  purchase buy acquire
  rent lease
  invoice bill receipt
  reservation booking reserve book
  itinerary agenda
  essay article
  legal law
  lawsuit case litigation
  anime manga
  elevation altitude height
  distance length
  speed velocity
  zip postal postcode
  gene genome
  dna genetic
`;

/** Words of one subject: who asks about a "mortgage" may want the tool about "finance". */
export const SUBJECT_GROUPS = `
  finance financial money bank invest investment investor stock market fund portfolio mortgage loan income savings expense budget dividend bond economy economic trading cash interest
  tax income deduction irs filing
  insurance policy claim coverage
  travel trip hotel flight attraction destination tourist sightseeing beach visit booking resort landmark accommodation
  house rent rental buy property mortgage apartment realtor neighborhood room bedroom
  weather temperature rain snow wind humidity storm sunny cloud umbrella climate
  sport football soccer basketball baseball tennis cricket match game player team score league season tournament championship
  music song artist album band lyric concert playlist singer guitar
  movie film actor director cinema tv series streaming watch netflix imdb
  news headline article politics event world breaking current journalism
  health medical disease symptom doctor patient treatment clinical hospital medicine
  diet nutrition calorie food recipe ingredient protein vegan vegetarian meal
  fitness workout exercise muscle gym yoga running
  recipe ingredient cook kitchen bake
  job resume career interview salary hiring recruiter employer
  course learn education tutorial class lesson student teacher school university training study teach
  research paper scholar academic science scientific study literature arxiv journal citation
  book author novel publisher library genre
  law legal court case lawyer attorney lawsuit contract
  crime police criminal safety
  car drive vehicle fuel petrol gasoline gas speed charging electric ev traffic
  pet dog cat animal veterinary
  plant garden flower tree
  space astronomy planet star nasa satellite mars
  earth earthquake seismic volcano disaster flood
  energy power electricity solar grid carbon emission
  charity donate donation nonprofit volunteer
  religion bible quran islam christian prayer church
  horoscope zodiac astrology tarot
  dating relationship love
  game play gaming player quest chess puzzle fun entertainment
  image photo design logo visual creative art illustration graphic
  video youtube clip subtitle channel stream
  social twitter tweet instagram facebook post follower hashtag tiktok influencer
  marketing ad advertising campaign seo keyword brand audience sale
  seo keyword ranking traffic website optimize backlink blog
  website domain dns hosting url seo html page
  email newsletter mailing inbox draft recipient
  shopping product store price order cart checkout buy retail ecommerce fashion clothes outfit gift
  fashion clothing outfit style apparel shirt dress shoe
  beauty makeup skin hair cosmetic
  project task todo kanban sprint milestone deadline assign backlog management team
  note memo reminder todo task
  meeting calendar schedule zoom attendee invite
  code repository commit branch pull merge git developer programming github
  deploy build pipeline ci release cloud infrastructure
  database sql table query schema record row column
  file folder path disk directory storage drive
  server log monitor metric alert incident error performance
  security vulnerability malware threat scan attack phishing virus
  api endpoint request response http
  package dependency npm library module version
  browser page click screenshot navigate tab element
  document pdf word page paragraph heading
  spreadsheet cell row column sheet formula
  math equation algebra geometry integral derivative calculus formula
  geometry area triangle circle radius volume distance
  statistics mean median variance probability distribution regression
  physics force velocity acceleration energy gravity mass
  chemistry molecule element compound reaction
  biology gene protein cell dna species genome
  crypto bitcoin wallet blockchain token nft coin ethereum
  company ceo revenue employee industry startup headquarters founder competitor
  phone contact sms carrier
  location city country state region zip latitude longitude coordinate address map nearby
  transport train bus taxi ride subway station ticket
  ticket event concert theater venue festival
  language translate grammar dictionary word pronunciation spelling
  ai model prompt llm chatbot gpt machine learning neural
  voice speech audio tts transcription podcast
  history historical war ancient century museum
  government politics election vote president senator policy congress
  time date timezone clock hour calendar
  color rgb hex palette
  joke humor funny meme quote
  kid child parent baby toy
  wedding birthday party anniversary gift
  delivery shipping package tracking courier shipment parcel
  payment invoice billing charge refund subscription checkout card
  customer support ticket helpdesk crm lead contact sale
  marketplace seller price product
  astronomy moon sun sunrise sunset eclipse
  ocean sea tide wave surf
  farm crop agriculture soil
  construction building architecture structure
  electronics gadget phone laptop hardware device computer
  gaming steam console gamer pc
  military army navy weapon
  museum exhibition gallery artwork painting sculpture
  dance theater musical play broadway
  wine beer brewery bar
  coffee tea cafe
  hotel room night amenity breakfast
  flight passenger departure arrival airport round seat
  car rental pickup suv
  real estate agent property house
  interest rate loan mortgage payment debt credit
  stock price dividend earnings ticker nasdaq
  exchange rate currency convert usd eur
  country capital population flag continent nation
  family parent mother father sibling ancestor
  mental stress meditation anxiety therapy mood
  sleep dream
  safety emergency hospital fire ambulance
  vote candidate poll survey questionnaire form
  survey form response question answer
  qr barcode scan
  font typography
  icon svg logo
  map marker layer tile gis
  sensor iot device temperature smart home light thermostat
  robot automation workflow zapier trigger
  workflow automation integrate app connect
  spreadsheet excel csv table
  csv json xml yaml format parse
  notebook jupyter cell kernel
  terminal shell command bash process exec cmd
  process cpu memory kill system
  memory knowledge entity relation graph recall
  vector embedding similarity semantic
  index document elasticsearch
  queue topic message kafka broker
  bucket object s3 storage blob
  role permission access policy grant iam
  user login session token auth password
  test case assertion coverage unit
  issue label milestone assignee comment
  review approve pull request diff
  release tag version changelog
  font color theme style css
  component react ui frontend design
  wiki documentation docs page knowledge
  slack channel thread message workspace
`;

/** Common words of tools in Chinese and Japanese beside the English ones: catalogs and questions often differ in language. */
export const LANGUAGE_GROUPS = `
  search find query lookup 搜索 查询 检索 検索 查找
  get fetch retrieve obtain 获取 取得
  create add new 创建 新建 作成 添加 追加
  delete remove 删除 削除
  update edit modify 更新 修改 编辑 編集
  list 列表 一覧 列出
  send 发送 送信
  news headline 新闻 资讯 快讯 ニュース
  trending trend hot popular 热门 热榜 趋势 热点
  weather 天气 気象 天候
  ticket 车票 余票 机票
  train railway 火车 列车 铁路 車站 车站
  file 文件
  user account 用户
  price 价格 价钱
  stock 股票
  time date 时间 日期 日時
  image picture photo 图片 图像 画像
  video movie film 视频 电影 動画
  map 地图
  location place address 位置 地点 地址
  message 消息 信息
  information info 信息 情報
  technology tech 科技 技术
  finance financial 金融 财经 经济
  game 游戏
  music song 音乐 歌曲
  book 图书 书籍
  shopping product buy 购物 商品 产品
  calendar 日历 黄历
  translate translation 翻译
  document 文档
  project 项目
  issue bug 问题
  email mail 邮件
  order 订单
  payment pay 支付
  route 路线
  hotel 酒店
  restaurant food 餐厅 美食
  company 公司 企业
  report 报告
  data 数据
  download 下载
  upload 上传
  analyze analysis 分析
  calculate 计算
  convert 转换
  generate 生成
  discount deal cheap 优惠 折扣
  recommend recommendation 推荐
  review rating 评价 评测
  question 问题 问答
  comment 评论
  article 文章
  code 代码
  database 数据库
`;
